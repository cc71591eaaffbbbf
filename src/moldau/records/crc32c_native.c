/* CRC-32C (Castagnoli) over any contiguous buffer, with the CPU's own instruction where it has one.
 *
 * The instruction takes three cycles but a new one can start every cycle. Large buffers are
 * therefore cut into three neighbouring blocks whose checksums run side by side and are joined
 * afterwards: the checksum of A followed by B is shift(crc(A), length of B) ^ crc(B), where shift
 * appends that many zero bytes. It is linear, so four tables of 256 entries per block size do it.
 *
 * Every CPU has the portable path (slicing by eight); x86-64 with SSE 4.2 and AArch64 with the CRC
 * extension have the fast one, chosen once when the module is loaded.
 */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
#define HAVE_INSTRUCTION 1
#define INSTRUCTION_TARGET __attribute__((target("sse4.2")))
#define INSTRUCTION_NAME "sse4.2"
#include <nmmintrin.h>
#elif (defined(__GNUC__) || defined(__clang__)) && defined(__aarch64__) && !defined(__AARCH64EB__)
#define HAVE_INSTRUCTION 1
#define INSTRUCTION_TARGET
#define INSTRUCTION_NAME "armv8-crc"
#if defined(__linux__)
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif
#endif
#else
#define HAVE_INSTRUCTION 0
#endif

/* The polynomial with its bits reversed, as checksums are kept here. */
#define POLYNOMIAL 0x82f63b78u

#define LONG_BLOCK 4096
#define SHORT_BLOCK 256

/* Below this size handing the interpreter to another thread costs more than the checksum. */
#define RELEASE_SIZE 32768

typedef uint32_t (*update_function)(uint32_t crc, const uint8_t *data, size_t size);

static uint32_t slices[8][256];
static update_function update_best;
static const char *implementation = "portable";

static uint64_t load_little_endian_64(const uint8_t *data)
{
    uint64_t word;
    memcpy(&word, data, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static void fill_slices(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? (crc >> 1) ^ POLYNOMIAL : crc >> 1;
        slices[0][byte] = crc;
    }
    for (uint32_t byte = 0; byte < 256; byte++)
        for (int slice = 1; slice < 8; slice++) {
            uint32_t crc = slices[slice - 1][byte];
            slices[slice][byte] = (crc >> 8) ^ slices[0][crc & 0xff];
        }
}

static uint32_t update_portable(uint32_t crc, const uint8_t *data, size_t size)
{
    while (size >= 8) {
        uint64_t word = load_little_endian_64(data) ^ crc;
        crc = slices[7][word & 0xff] ^ slices[6][(word >> 8) & 0xff]
            ^ slices[5][(word >> 16) & 0xff] ^ slices[4][(word >> 24) & 0xff]
            ^ slices[3][(word >> 32) & 0xff] ^ slices[2][(word >> 40) & 0xff]
            ^ slices[1][(word >> 48) & 0xff] ^ slices[0][word >> 56];
        data += 8;
        size -= 8;
    }
    while (size--)
        crc = (crc >> 8) ^ slices[0][(crc ^ *data++) & 0xff];
    return crc;
}

#if HAVE_INSTRUCTION

/* What appending one block of zeros does to each byte of a checksum. */
typedef struct {
    uint32_t entry[4][256];
} shift_table;

static shift_table shift_long;
static shift_table shift_short;

static void fill_shift(shift_table *table, size_t block)
{
    uint32_t of_bit[32];
    for (int bit = 0; bit < 32; bit++) {
        uint32_t crc = (uint32_t)1 << bit;
        for (size_t zero = 0; zero < block; zero++)
            crc = (crc >> 8) ^ slices[0][crc & 0xff];
        of_bit[bit] = crc;
    }
    for (int place = 0; place < 4; place++)
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t crc = 0;
            for (int bit = 0; bit < 8; bit++)
                if (byte >> bit & 1)
                    crc ^= of_bit[8 * place + bit];
            table->entry[place][byte] = crc;
        }
}

static uint32_t shift(const shift_table *table, uint32_t crc)
{
    return table->entry[0][crc & 0xff] ^ table->entry[1][(crc >> 8) & 0xff]
         ^ table->entry[2][(crc >> 16) & 0xff] ^ table->entry[3][crc >> 24];
}

#if defined(__x86_64__)

INSTRUCTION_TARGET static inline uint64_t add_word(uint64_t crc, const uint8_t *data)
{
    return _mm_crc32_u64(crc, load_little_endian_64(data));
}

INSTRUCTION_TARGET static inline uint64_t add_byte(uint64_t crc, const uint8_t *data)
{
    return _mm_crc32_u8((uint32_t)crc, *data);
}

static int has_instruction(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2");
}

#else /* AArch64: assembled by hand, since compilers differ in how they offer the intrinsics. */

static inline uint64_t add_word(uint64_t crc, const uint8_t *data)
{
    uint32_t sum = (uint32_t)crc;
    uint64_t word = load_little_endian_64(data);
    __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(sum) : "r"(word));
    return sum;
}

static inline uint64_t add_byte(uint64_t crc, const uint8_t *data)
{
    uint32_t sum = (uint32_t)crc;
    uint32_t byte = *data;
    __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(sum) : "r"(byte));
    return sum;
}

static int has_instruction(void)
{
#if defined(__linux__)
    return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
#elif defined(__APPLE__)
    return 1;
#else
    return 0;
#endif
}

#endif

INSTRUCTION_TARGET static inline uint64_t add_three_blocks(
    uint64_t crc, const uint8_t *data, size_t block, const shift_table *shift_block)
{
    uint64_t second = 0, third = 0;
    for (const uint8_t *end = data + block; data < end; data += 8) {
        crc = add_word(crc, data);
        second = add_word(second, data + block);
        third = add_word(third, data + 2 * block);
    }
    crc = shift(shift_block, (uint32_t)crc) ^ second;
    return shift(shift_block, (uint32_t)crc) ^ third;
}

INSTRUCTION_TARGET static uint32_t update_with_instruction(
    uint32_t start, const uint8_t *data, size_t size)
{
    uint64_t crc = start;
    for (; size >= 3 * LONG_BLOCK; data += 3 * LONG_BLOCK, size -= 3 * LONG_BLOCK)
        crc = add_three_blocks(crc, data, LONG_BLOCK, &shift_long);
    for (; size >= 3 * SHORT_BLOCK; data += 3 * SHORT_BLOCK, size -= 3 * SHORT_BLOCK)
        crc = add_three_blocks(crc, data, SHORT_BLOCK, &shift_short);
    for (; size >= 8; data += 8, size -= 8)
        crc = add_word(crc, data);
    for (; size > 0; data++, size--)
        crc = add_byte(crc, data);
    return (uint32_t)crc;
}

#endif /* HAVE_INSTRUCTION */

static void choose_implementation(void)
{
    fill_slices();
    update_best = update_portable;
#if HAVE_INSTRUCTION
    if (has_instruction()) {
        fill_shift(&shift_long, LONG_BLOCK);
        fill_shift(&shift_short, SHORT_BLOCK);
        update_best = update_with_instruction;
        implementation = INSTRUCTION_NAME;
    }
#endif
}

static PyObject *checksum(
    update_function update, const char *name, PyObject *const *arguments, Py_ssize_t count)
{
    if (count < 1 || count > 2)
        return PyErr_Format(PyExc_TypeError, "%s() takes 1 or 2 arguments, not %zd", name, count);
    uint32_t crc = 0;
    if (count == 2) {
        unsigned long value = PyLong_AsUnsignedLongMask(arguments[1]);
        if (value == (unsigned long)-1 && PyErr_Occurred())
            return NULL;
        crc = (uint32_t)value;
    }
    Py_buffer buffer;
    if (PyObject_GetBuffer(arguments[0], &buffer, PyBUF_SIMPLE) < 0)
        return NULL;
    size_t size = (size_t)buffer.len;
    crc = ~crc;
    if (size < RELEASE_SIZE) {
        crc = update(crc, buffer.buf, size);
    } else {
        Py_BEGIN_ALLOW_THREADS
        crc = update(crc, buffer.buf, size);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&buffer);
    return PyLong_FromUnsignedLong(~crc & 0xffffffffu);
}

static PyObject *crc32c(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    return checksum(update_best, "crc32c", arguments, count);
}

static PyObject *crc32c_portable(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    return checksum(update_portable, "crc32c_portable", arguments, count);
}

/* A METH_FASTCALL function is stored as a PyCFunction; going through a plain function pointer
 * tells the compiler that the difference in type is meant. */
#define FAST_CALL(function) (PyCFunction)(void (*)(void))(function)

static PyMethodDef methods[] = {
    {"crc32c", FAST_CALL(crc32c), METH_FASTCALL,
     "crc32c(data, value=0, /)\n--\n\nThe CRC-32C of `data`, continuing from `value`."},
    {"crc32c_portable", FAST_CALL(crc32c_portable), METH_FASTCALL,
     "crc32c_portable(data, value=0, /)\n--\n\nThe same without special instructions."},
    {NULL, NULL, 0, NULL},
};

/* For other extensions, which call it without the interpreter: see memory.pxd. */
static int add_update(PyObject *module)
{
    PyObject *capsule = PyCapsule_New((void *)update_best, "moldau.records._crc32c.update", NULL);
    int result = PyModule_AddObjectRef(module, "update", capsule);
    Py_XDECREF(capsule);
    return result;
}

static int execute(PyObject *module)
{
    choose_implementation();
    if (add_update(module) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "implementation", implementation);
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)execute},
#if PY_VERSION_HEX >= 0x030d0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "_crc32c", .m_doc = "CRC-32C in C.", .m_size = 0,
    .m_methods = methods, .m_slots = slots,
};

PyMODINIT_FUNC PyInit__crc32c(void)
{
    return PyModuleDef_Init(&definition);
}
