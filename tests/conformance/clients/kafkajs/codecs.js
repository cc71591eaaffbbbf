// The codecs that kafkajs leaves to other packages; these need no compiler.
const { CompressionCodecs, CompressionTypes } = require('kafkajs');
const snappy = require('kafkajs-snappy');
const lz4 = require('lz4js');
const zstd = require('@bokuweb/zstd-wasm');

const codecOf = (compress, decompress) => () => ({
  compress: async (encoder) => Buffer.from(compress(encoder.buffer)),
  decompress: async (buffer) => Buffer.from(decompress(buffer)),
});

CompressionCodecs[CompressionTypes.Snappy] = snappy;
CompressionCodecs[CompressionTypes.LZ4] = codecOf(lz4.compress, lz4.decompress);
CompressionCodecs[CompressionTypes.ZSTD] = codecOf(zstd.compress, zstd.decompress);

const types = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
};

exports.typeOf = async (name) => {
  if (!(name in types)) throw new Error(`no codec ${name}`);
  if (name === 'zstd') await zstd.init();
  return types[name];
};
