// SPDX-License-Identifier: MIT
#pragma once
/// Carries out a ConvertPlan on one FlatBuffer.

#include <span>

#include "resource/convert_plan.h"
#include "resource/data_view.h"
#include "resource/flat_writer.h"

namespace meridian::detail {

/// Writes `bytes`, which check_structure() accepted for the plan's old schema, into `writer` by the new one.
/// Gives the finished buffer, or an empty span: then status() says why.
class ConvertRun {
 public:
  ConvertRun(std::span<const std::byte> bytes, FlatWriter& writer, Allocator& allocator)
      : view_(bytes), writer_(writer), refs_(allocator) {}

  std::span<const std::byte> run(const TypePair& root, uint32_t identifier);
  /// out_of_memory, too_large, bad_structure (nested too deep), no_conversion (a required member cannot be made).
  Status status() const;

 private:
  using Ref = FlatWriter::Ref;
  Ref table(const TypePair& pair, uint32_t at, uint32_t depth);
  Ref child(const FieldPlan& plan, uint32_t at, uint32_t depth, uint8_t& member);
  Ref filler(const FieldPlan& plan);
  Ref fail(StatusCode code, const char* message, uint64_t detail) {
    if (status_.ok()) status_ = {code, message, detail};
    return 0;
  }
  Ref vector(const FieldPlan& plan, uint32_t at, uint32_t depth);
  Ref string(uint32_t at);
  void structure(const TypePair& pair, uint32_t at, std::byte* out) const;
  void write_inline(const TypePair& pair, const FieldPlan& plan, uint32_t at);
  uint32_t source(const TypePair& pair, const FieldPlan& plan, uint32_t at) const {
    if (plan.missing) return 0;
    return pair.from_is_struct ? at + plan.from_slot : view_.field(at, plan.from_slot);
  }
  uint64_t bits(reflection::BaseType base, uint32_t at) const;

  DataView view_;
  FlatWriter& writer_;
  ConvertArray<Ref> refs_;  // a stack: children of the tables and vectors that are being written
  Status status_;
};

}  // namespace meridian::detail
