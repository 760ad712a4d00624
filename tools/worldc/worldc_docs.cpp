// SPDX-License-Identifier: MIT
#include "worldc_docs.h"

namespace meridian::tools {

ProgramDoc top_doc() {
  return program_doc(
      "worldc", "build and check whole worlds", "COMMAND SOURCE...",
      "Commands: build (compile, link and pack all that is below some folders, as far as it changed), "
      "check (all the rules, nothing written), watch (build again whenever a source changes), forecast (which pools "
      "the "
      "world needs where it needs most), report (a page about the world), manifest (write the packfile manifest). "
      "'worldc COMMAND --help' tells more.",
      {{"worldc check maps/", "find what is wrong before it ships"},
       {"worldc build maps/ -o build/world", "make the files that a game loads"}});
}

ProgramDoc build_doc() {
  return program_doc(
      "worldc build", "compile, link and pack a world", "SOURCE... -o DIR",
      "Finds maps, type files, manifests and game configurations below the SOURCE folders by what is "
      "in them (a SOURCE may be a world.json, or have one at its top: layers, groups, severities), compiles what "
      "changed since the last build, links all maps (LOD sets over maps, cooked "
      "descriptor blocks), checks everything, and writes DIR: a file each for maps (imap/), type files "
      "(ityp/) and configurations (gcfg/), and world.mpk with all of them. With errors nothing is "
      "written. DIR/.worldc holds what the next build needs to know; it may be deleted.",
      {{"worldc build maps/ -o build/world", "build what changed"},
       {"worldc build base/ --layer patch/ -o build/world", "with files of patch/ in place of base's"},
       {"worldc build maps/ -o build/world --explain-rebuild", "say why each output is made again"},
       {"worldc build maps/ -o build/world --patch-from release/world.mpk", "make a patch pack too"}});
}

ProgramDoc watch_doc() {
  return program_doc(
      "worldc watch", "build a world whenever it changes", "SOURCE... -o DIR",
      "Builds as 'worldc build' does, then waits until a source changes, and builds again, until Ctrl-C (exit "
      "code 130). Each build ends with a line on standard output; errors are told and do not end it. A "
      "world.json is read again when it changes; folders may come and go.",
      {{"worldc watch maps/ -o build/world", "edit, save, look at the messages"}});
}

ProgramDoc check_doc() {
  return program_doc("worldc check", "check a world", "SOURCE...",
                     "Runs all rules over the maps, type files, manifests and configurations below the SOURCE "
                     "folders, with everything linked: archetypes, LOD parents over files, child counts, extents, "
                     "flags, light twins, manifests. Nothing is written but by --fix.",
                     {{"worldc check maps/", "find what is wrong before it ships"},
                      {"worldc check maps/ --fix=preview", "show what --fix would change"},
                      {"worldc check base/ --layer patch/ --conflicts", "list what patch/ changes in base/"},
                      {"worldc check maps/ -Werror --diagnostics=sarif --diagnostics-file check.sarif", "in CI"}});
}

ProgramDoc forecast_doc() {
  return program_doc(
      "worldc forecast", "tell what a world needs where it needs most", "SOURCE...",
      "Finds the place of the world at which most entities, interiors, nodes, type files and bytes are needed "
      "at once, for each pool on its own, and holds it against the game configurations among the sources. The "
      "place is exact: of all places, not of samples. Maps that stream in by name only are not counted. A pool "
      "that is too small for one map alone is an error, one that is too small at the worst place a warning "
      "(CFG001).",
      {{"worldc forecast maps/ gameconfig.xml", "which pool will overflow, and where"},
       {"worldc forecast maps/ --target build=final,platform=x64 --format=json", "for one platform, for a script"}});
}

ProgramDoc report_doc() {
  return program_doc("worldc report", "write a page about a world", "SOURCE... -o FILE",
                     "Checks the world like 'worldc check' and writes an HTML page that needs nothing beside "
                     "it: counts, sizes, LOD trees, the maps that cost most, what the pools need where, and "
                     "what the rules found.",
                     {{"worldc report maps/ -o world.html", "look at the world as a whole"}});
}

ProgramDoc manifest_doc() {
  return program_doc(
      "worldc manifest", "write the packfile manifest of a world", "SOURCE... -o FILE",
      "Writes a _manifest.ymf.xml: for each map and each type file with interiors the type files that it needs, "
      "computed from what it uses; groups, high-detail textures and interiors' collision files as the "
      "manifests below the SOURCE folders have them, groups of a world.json in their place. A file that would "
      "not change is left alone; with errors nothing is written.",
      {{"worldc manifest maps/ -o maps/_manifest.ymf.xml", "bring a manifest up to date"},
       {"worldc manifest maps/ -o - | diff maps/_manifest.ymf.xml -", "only look"}});
}

}  // namespace meridian::tools
