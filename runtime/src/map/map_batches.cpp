// SPDX-License-Identifier: MIT
// Lists of instances: one entity stands for each.
#include <algorithm>
#include <cmath>

#include "map/loading.h"
#include "meridian/entity/entity_batch.h"

namespace meridian {

uint32_t MapContents::prop_list_count() const { return parts().prop_list_count(); }

/// A batch of grass as if it were placed by itself: the plant, in the middle of the box, seen from as far as the batch.
schema::EntityDef MapContents::definition_of_batch(uint32_t index, Vec3& half) const {
  const GrassBatch batch = parts().grass_batch(index - prop_list_count());
  const auto middle = [](float a, float b) { return static_cast<float>((double{a} + double{b}) / 2); };
  const Vec3 &low = batch.box.min, &high = batch.box.max;
  const Vec3 at{middle(low.x, high.x), middle(low.y, high.y), middle(low.z, high.z)};
  // From the middle as it was rounded: the box that comes out holds the one that is stored, even inside out.
  const auto reach = [](float from, float a, float b) {
    return round_up(std::max(std::abs(double{a} - double{from}), std::abs(double{b} - double{from})));
  };
  half = {reach(at.x, low.x, high.x), reach(at.y, low.y, high.y), reach(at.z, low.z, high.z)};
  return {batch.archetype.value,
          schema::EntityFlags{},
          0,
          schema::Vec3(at.x, at.y, at.z),
          schema::Quat(0, 0, 0, 1),
          1,
          1,
          kNoLodParent,
          static_cast<float>(batch.lod_distance),
          0,
          schema::LodLevel::ORPHANHD,
          0,
          schema::PriorityLevel::REQUIRED,
          255,
          255,
          0};
}

Status MapContents::make_batches(Loading& in) {
  const EntityClassRegistry& classes = maps_->config_.scene->classes();
  const bool is_moved = !(maps_->config_.world->origin() == WorldOrigin{});
  const EntityInit how{.imap = slot_, .map = name_, .messages = &maps_->said_};
  const uint32_t props = prop_list_count();
  const auto [first, last] = in.piece(batch_count());
  for (uint32_t i = first; i < last; ++i) {
    const bool is_grass = i >= props;
    const EntityClass type = is_grass ? EntityClass::grass_batch : EntityClass::prop_batch;
    EntityBatch& data = batch_data_[i];
    Entity* const entity = arrays_.make(classes, type);
    const char* why = nullptr;
    data.list = is_grass ? i - props : i;
    if (is_grass) {
      const schema::EntityDef definition = definition_of_batch(i, data.half);
      data.fade_start = parts().grass_batch(data.list).fade_start;
      const detail::Resolved plant = in.resolver.find(definition.archetype_name());
      if (plant.archetype == nullptr) {
        ++in.said.missing_archetype;
        why = "its archetype is in none of the map's type files";
      } else if (!is_made(make_entity(*entity, definition, *plant.archetype, how, is_moved))) {
        ++in.said.bad_definition;
        why = "it has no finite place, or no draw distance above 1 m";
      }
    } else {  // of its members none is known
      entity->set_imap(slot_);
      entity->set_owner(OwnedBy::ipl);
    }
    ++batches_created_;
    maps_->config_.scene->table().put(group_, entity_count_ + i, entity);
    if (why != nullptr) {
      drop_batch(i, why);
      continue;
    }
    entity->extensions().add(data);
  }
  return {};
}

/// Leaves a batch out. Its place among those of its class stays empty.
void MapContents::drop_batch(uint32_t index, const char* why) {
  Entity& entity = *batches_[index];
  const uint32_t props = prop_list_count();
  const NameHash plant = index >= props ? parts().grass_batch(index - props).archetype : NameHash{};
  if (maps_->bad_.first(plant.value ^ name_.value)) {
    log_message(LogLevel::warning, plant, "map %s: grass batch %u (%s) is left out: %s", name_text(name_).text,
                index - props, name_text(plant).text, why);
  }
  if (is_told_of(entity_count_ + index)) maps_->config_.host.destroyed(entity);
  maps_->config_.scene->table().put(group_, entity_count_ + index, nullptr);
  maps_->config_.scene->classes().destroy(entity);
  --batches_created_;
}

/// Descriptors of the batches, in containers of their own: the linker's blocks are of entities only.
Status MapContents::add_batch_blocks(const detail::BlockMemory& memory) {
  const uint32_t count = batch_count();
  uint32_t seen = 0;
  for (uint32_t i = 0; i < count; ++i) {
    memory.descs[i] = {};
    memory.descs[i].handle = i;
    if (batches_[i] == nullptr || !batches_[i]->container().is_none()) continue;
    EntityDesc desc;
    if (!maps_->config_.scene->describe_entity_now(*batches_[i], {}, desc).ok()) {
      if (batches_[i]->archetype() != nullptr) drop_batch(i, "its box is not finite");
      continue;
    }
    memory.descs[i] = desc;
    memory.descs[i].handle = i;
    ++seen;
  }
  if (seen == 0) return {};  // prop lists have no place
  const BlockSpans blocks = memory.blocks(count);
  build_blocks(memory.descs.first(count), memory.scratch, blocks);
  for (const DescContainer& container : blocks.containers) {
    const uint32_t slots = padded_slots(container.count);
    const DescLanes lanes = desc_lanes(blocks.lanes.data() + lane_bytes(container.first_slot), slots);
    for (uint32_t slot = 0; slot < slots; ++slot) {
      if (lanes.entity[slot] != kNoEntity) lanes.entity[slot] += entity_count_;
    }
  }
  return maps_->config_.scene->graph().add_blocks(
      *node_, {blocks.containers, blocks.sub_blocks, blocks.lanes, links_, group_, lod_set_ids()});
}

/// Those whose plant is not what its name means go on with that. True: there are some.
bool MapContents::take_batch_archetypes(bool& waits) {
  const uint32_t props = prop_list_count();
  bool any = false;
  for (uint32_t i = props; i < batch_count(); ++i) {
    Entity* const entity = batches_[i];
    if (entity == nullptr || entity->archetype()->is_in_force()) continue;
    Archetype* const now = maps_->config_.archetypes->find(entity->archetype()->name());
    waits |= now == nullptr;
    if (now == nullptr) continue;
    any = true;
    Vec3 half;
    const schema::EntityDef definition = definition_of_batch(i, half);
    const EntityInit how{.imap = slot_, .map = name_, .messages = &maps_->said_};
    detail::take_archetype(*entity, definition, *now, how, maps_->config_.scene->hour());
    move_to_origin(*entity, definition, maps_->config_.world->origin());
  }
  return any;
}

}  // namespace meridian
