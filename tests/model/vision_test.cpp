#include "core/model/vision.h"

#include "tests/catch.h"

using namespace memwall::model;

// Sums by hand over the published shapes; the totals with the text model are in hugging_face_test.cpp.
TEST_CASE("vision towers count patches, positions, blocks and mergers", "[vision]") {
    // SigLIP of Gemma-3: 27 blocks of 15,239,504, patches 678,528, 4,096 positions, one norm.
    const VisionTower siglip{.kind = VisionKind::siglip,
                             .layers = 27,
                             .hidden = 1152,
                             .width = 4304,
                             .patch = 14,
                             .image = 896,
                             .text_hidden = 2560};
    CHECK(vision_parameters(siglip) == 27LL * 15239504 + 678528 + 4096 * 1152 + 2 * 1152);
    CHECK(projector_parameters(siglip) == 1152 * 2560 + 1152);
    // CLIP of LLaVA: no patch bias, a class token, norms before and after.
    const VisionTower clip{.kind = VisionKind::clip,
                           .layers = 24,
                           .hidden = 1024,
                           .width = 4096,
                           .patch = 14,
                           .image = 336,
                           .text_hidden = 4096};
    CHECK(vision_parameters(clip) == 24LL * 12596224 + 602112 + 577 * 1024 + 1024 + 4 * 1024);
    // Qwen2.5-VL: gated blocks, and a merger of 2 x 2 patches counted with the tower.
    const VisionTower qwen{.kind = VisionKind::qwen2_5_vl,
                           .layers = 32,
                           .hidden = 1280,
                           .width = 3420,
                           .patch = 14,
                           .merge = 2,
                           .temporal_patch = 2,
                           .text_hidden = 3584};
    CHECK(vision_parameters(qwen) == 676550144);
    CHECK(projector_parameters(qwen) == 0);
    // Qwen3-VL-2B: 1,024 wide; three more mergers norm the joined 4,096 and feed earlier layers.
    VisionTower deep{.kind = VisionKind::qwen3_vl,
                     .layers = 24,
                     .hidden = 1024,
                     .width = 4096,
                     .patch = 16,
                     .positions = 2304,
                     .merge = 2,
                     .temporal_patch = 2,
                     .text_hidden = 2048};
    const std::int64_t plain = vision_parameters(deep);
    deep.deep_mergers = 3;
    CHECK(vision_parameters(deep) - plain == 3LL * (2 * 4096 + 4096 * 4096 + 4096 + 4096 * 2048 + 2048));
    CHECK(vision_parameters(deep) == 2127532032 - 1720574976);
}

TEST_CASE("vision types are known by name or not at all", "[vision]") {
    CHECK(vision_kind("siglip_vision_model") == VisionKind::siglip);
    CHECK(vision_kind("qwen3_5_moe") == VisionKind::qwen3_vl);
    CHECK_FALSE(vision_kind("siglip"));
    CHECK_FALSE(vision_kind(""));
}
