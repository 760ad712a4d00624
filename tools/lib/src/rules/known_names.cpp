// SPDX-License-Identifier: MIT
#include "known_names.h"

#include <array>

#include "meridian/tools/rules.h"

namespace meridian::tools {
namespace {

// Pool names that published configurations raise. The runtime folds case when it looks one up.
constexpr std::string_view kPools[] = {
    "ActionTable_Branches", "ActionTable_Damages", "ActionTable_Definitions", "ActionTable_FacialAnimSets",
    "ActionTable_Homings", "ActionTable_Impulses", "ActionTable_Interrelations", "ActionTable_Results",
    "ActionTable_Rumbles", "ActionTable_StealthKills", "ActionTable_StrikeBones", "ActionTable_Vfx",
    "ActiveLoadedInfo", "ActivePersistentLoadedInfo", "AircraftFlames", "AnimatedBuilding", "AnimScenes",
    "AnimStore", "atDScriptObjectNode", "AttachmentExtension", "AudioHeap", "BlendshapeStore", "Building",
    "caicurvepoint", "caihandlinginfo", "CAmbientLookAt", "carrec", "CBoatChaseDirector", "cbullet",
    "cbullet::sbulletinstance", "CCargen", "CCargenForScenarios", "CClimbHandHoldDetected", "ccollectioninfo",
    "CCombatDirector", "CCombatInfo", "CCombatSituation", "CCoverFinder", "CDefaultCrimeInfo", "CEvent",
    "ceventdecisionmaker", "ceventdecisionmakermodifiablecomponent", "cgamescripthandler", "CGameScriptResource",
    "CGpsNumNodesStored", "CGrabHelper", "chandlingobject", "ClothStore", "CMoveAnimatedBuilding", "CMoveObject",
    "cnamedpatrolroute", "CombatMeleeManager_Groups", "CombatMeleeManager_GroupsMP", "CombatMountedManager_Attacks",
    "CompEntity", "CPathNodeRouteSearchHelper", "cpatrollink", "cpatrolnode", "CPickup", "CPickupData",
    "CPickupPlacement", "CPickupPlacementCustomScriptData", "cplayerinfo", "CPrioritizedClipSetBucket",
    "CPrioritizedClipSetRequest", "CPropManagementHelper", "CRegenerationInfo", "crelationshipgroup", "CRoadBlock",
    "CScenarioClusterSpawnedTrackingData", "CScenarioInfo", "cscenariopoint", "CScenarioPointChainUseInfo",
    "CScenarioPointExtraData", "CScriptEntityExtension", "cspawnpointoverrideextension", "CSPClusterFSMWrapper",
    "CStuntJump", "CTacticalAnalysis", "CTask", "CTaskConversationHelper", "ctasksequencelist",
    "CTaskUseScenarioEntityExtension", "CutsceneStore", "CVehicleChaseDirector", "CVehicleClipRequestHelper",
    "CVehicleCombatAvoidanceArea", "cvehiclestreamrendergfx", "cvehiclestreamrequestgfx", "CWeapon",
    "cweaponcomponent", "cweaponcomponentinfo", "decorator", "DecoratorExtension", "DrawableStore", "Dummy Object",
    "DwdStore", "EntityBatch", "ExprDictStore", "fraginstgta", "FragmentStore", "FrameFilterStore",
    "fwArchetypePooledMap", "fwcontainerlod", "fwDynamicArchetypeComponent", "fwDynamicEntityComponent",
    "fwEntityContainer", "fwLodNode", "fwMatrixTransform", "fwQuaternionTransform", "fwscriptguid",
    "fwSimpleTransform", "GamePlayerBroadcastDataHandler_Remote", "GrassBatch", "HandlingData", "incidents",
    "InstanceBuffer", "InteriorInst", "InteriorProxy", "IplStore", "itemsetbuffer", "Known Refs", "LightEntity",
    "MapDataLoadedNode", "MapDataStore", "MapTypesStore", "MaxLoadedInfo", "MaxLoadRequestedInfo",
    "MaxNonRegionScenarioPointSpatialObjects", "MetaDataStore", "naenvironmentgroup", "NavMeshes", "NavMeshRoute",
    "NetworkCrewDataMgr", "NetworkDefStore", "NetworkEntityAreas", "Object", "ObjectIntelligence",
    "OcclusionInteriorInfo", "OcclusionPathNode", "OcclusionPortalEntity", "OcclusionPortalInfo", "orders",
    "patrolroute", "pedprop render data", "pedprop req data", "Peds", "phInstGta", "PhysicsBounds", "PMStore",
    "pointroute", "PortalInst", "PoseMatcherStore", "PtFxAssetStore", "PtFxSortedEntity", "QuadTreeNodes",
    "ropedata", "ScaleformMgrArray", "ScaleformStore", "ScenarioCarGensPerRegion", "ScenarioPoint",
    "ScenarioPointEntity", "ScenarioPointsAndEdgesPerRegion", "ScenarioPointWorld", "scrGlobals", "ScriptStore",
    "StaticBounds", "streamped render data", "streamped req data", "SyncedScenes", "SyncedScenesMP", "targetting",
    "tasksequenceinfo", "tcBox", "TrafficLightInfos", "TxdStore", "vehicleglasscomponententity", "Vehicles",
    "VehicleScenarioAttractors", "VehicleStreamRender", "VehicleStreamRequest", "VehicleStruct", "wheels", "wptrec",
};

constexpr std::string_view kThreadPriorities[] = {
    "PRIO_IDLE", "PRIO_LOWEST", "PRIO_BELOW_NORMAL", "PRIO_NORMAL", "PRIO_ABOVE_NORMAL", "PRIO_HIGHEST", "PRIO_TIME_CRITICAL",
};

constexpr std::string_view kSwitchWords[] = {"CB_TRUE", "CB_FALSE"};

}  // namespace

const KnownNames* find_known_names(std::string_view list) {
  static const std::array<KnownNames, 3> lists{{
      {"pools", &rules::unknown_pool, "pool", kPools, true},
      {"thread_priorities", &rules::unknown_name, "thread priority", kThreadPriorities, false},
      {"cb_words", &rules::unknown_name, "switch", kSwitchWords, false},
  }};
  for (const KnownNames& l : lists)
    if (l.list == list) return &l;
  return nullptr;
}

}  // namespace meridian::tools
