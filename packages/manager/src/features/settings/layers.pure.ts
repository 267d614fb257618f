// The cascade merges the settings of four layers into the effective settings of one application in one tenant.
import type { KeyValuePair } from '../../platform/inputs/key-value-pairs.ts'

export type BackendModuleConfig = { EnabledModules: string[]; KeyValuePairs: KeyValuePair[] }
export type FrontendModuleConfig = {
  EnabledThemes: string[]
  DefaultTheme: string
  EnabledLocales: string[]
  DefaultLocale: string
  KeyValuePairs: KeyValuePair[]
}

/** The layers, from the most general to the most specific. */
export const layerNames = ['project', 'application', 'tenant', 'tenant2application'] as const
export type LayerName = (typeof layerNames)[number]
export type ModuleConfigs = { backend: BackendModuleConfig; frontend: FrontendModuleConfig }
/** Values of each layer; a layer without a row sets nothing. */
export type Layers = Partial<Record<LayerName, ModuleConfigs>>

/** Returns the layer of a row from the owners that it references. */
export function getLayer(row: { tenantId: string | null; applicationId: string | null }): LayerName {
  if (row.tenantId === null) return row.applicationId === null ? 'project' : 'application'
  return row.applicationId === null ? 'tenant' : 'tenant2application'
}

/** A value and the layer that sets the value. The layer is null if no layer sets it. */
type SourcedValue<T> = { value: T; layer: LayerName | null }
type SourcedPair = KeyValuePair & { layer: LayerName }

export type EffectiveSettings = {
  backend: { EnabledModules: SourcedValue<string[]>; KeyValuePairs: SourcedPair[] }
  frontend: {
    EnabledThemes: SourcedValue<string[]>
    DefaultTheme: SourcedValue<string>
    EnabledLocales: SourcedValue<string[]>
    DefaultLocale: SourcedValue<string>
    KeyValuePairs: SourcedPair[]
  }
}

/** Returns the config with defaults for missing fields. */
export const fillBackendDefaults = (config: Partial<BackendModuleConfig> | null): BackendModuleConfig => ({
  EnabledModules: config?.EnabledModules ?? [],
  KeyValuePairs: config?.KeyValuePairs ?? [],
})

/** Works like `fillBackendDefaults`, for frontend configs. */
export const fillFrontendDefaults = (config: Partial<FrontendModuleConfig> | null): FrontendModuleConfig => ({
  EnabledThemes: config?.EnabledThemes ?? [],
  DefaultTheme: config?.DefaultTheme ?? '',
  EnabledLocales: config?.EnabledLocales ?? [],
  DefaultLocale: config?.DefaultLocale ?? '',
  KeyValuePairs: config?.KeyValuePairs ?? [],
})

/**
 * Merges the layers. Strings and lists are replaced as a whole, and pairs are merged by key. The most
 * specific layer that sets a value wins.
 */
export function mergeLayers(layers: Layers): EffectiveSettings {
  return {
    backend: {
      EnabledModules: findMostSpecific<string[]>(layers, ({ backend }) => backend.EnabledModules, []),
      KeyValuePairs: mergePairs(layers, ({ backend }) => backend.KeyValuePairs),
    },
    frontend: {
      EnabledThemes: findMostSpecific<string[]>(layers, ({ frontend }) => frontend.EnabledThemes, []),
      DefaultTheme: findMostSpecific<string>(layers, ({ frontend }) => frontend.DefaultTheme, ''),
      EnabledLocales: findMostSpecific<string[]>(layers, ({ frontend }) => frontend.EnabledLocales, []),
      DefaultLocale: findMostSpecific<string>(layers, ({ frontend }) => frontend.DefaultLocale, ''),
      KeyValuePairs: mergePairs(layers, ({ frontend }) => frontend.KeyValuePairs),
    },
  }
}

/** Returns the most specific non-empty value. An empty value inherits, because rows are created empty. */
function findMostSpecific<T extends string | string[]>(
  layers: Layers,
  read: (configs: ModuleConfigs) => T,
  empty: T,
): SourcedValue<T> {
  for (const layer of layerNames.toReversed()) {
    const configs = layers[layer]
    const value = configs === undefined ? empty : read(configs)
    if (value.length > 0) return { value, layer }
  }
  return { value: empty, layer: null }
}

/** Merges pairs by key. A key keeps the position of its first occurrence, so that overrides do not change the order. */
function mergePairs(
  layers: Layers,
  read: (configs: ModuleConfigs) => readonly KeyValuePair[],
): SourcedPair[] {
  const mergedPairs = new Map<string, SourcedPair>()
  for (const layer of layerNames) {
    const configs = layers[layer]
    if (configs === undefined) continue
    for (const { Key, Value } of read(configs)) mergedPairs.set(Key, { Key, Value, layer })
  }
  return [...mergedPairs.values()]
}
