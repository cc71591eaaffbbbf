"""A .proto with everything in it, in its canonical form."""

EVERYTHING = """syntax = "proto3";
package a.b;

import "google/protobuf/timestamp.proto";
import "confluent/meta.proto";
import public "google/protobuf/any.proto";

option java_package = "x.y";
option optimize_for = SPEED;
option java_multiple_files = true;
option (my.opt) = { a : 1 b : "x" };

message Foo {
  reserved 5, 7 to 9, 100 to max;
  reserved "old";

  option deprecated = true;

  string name = 1 [
    deprecated = true,
    (confluent.field_meta).doc = "hi"
  ];
  optional int32 age = 2;
  repeated Bar bars = 3 [json_name = "BARS"];
  map<string, Bar> by_name = 4;
  google.protobuf.Timestamp at = 6;

  oneof kind {
    string x = 20;
    Color y = 21;
  }

  message Bar {
    int64 v = 1;
    E e = 2;

    enum E {
      A = 0;
      B = -1;
    }
  }
}
enum Color {
  reserved 5 to max;

  option allow_alias = true;

  RED = 0;
  ROUGE = 0 [deprecated = true];
}

service S {
  option deprecated = true;

  rpc Do (Foo) returns (stream Foo) {
    option deprecated = true;
  }
  rpc Other (stream Foo) returns (Foo);
}
"""
OLDER = """syntax = "proto2";

message A {
  required group R = 1 {
    optional string u = 1 [default = "a\\"b"];
  }
  optional double d = 2 [default = -inf];
  repeated int32 n = 3 [packed = true];

  extensions 100 to 199;
}

extend A {
  optional int32 z = 100;
}
"""
