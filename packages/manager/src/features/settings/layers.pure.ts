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

/** Ordered from the most general to the most specific layer. */
const layerNames = ['project', 'application', 'tenant', 'tenant2application'] as const
type LayerName = (typeof layerNames)[number]
type ModuleConfigs = { backend: BackendModuleConfig; frontend: FrontendModuleConfig }
/** Values of each layer; a layer without a row sets nothing. */
export type Layers = Partial<Record<LayerName, ModuleConfigs>>

/** Returns the layer of a row from the owners that it references. */
export function layerOf(row: { tenantId: string | null; applicationId: string | null }): LayerName {
  if (row.tenantId === null) return row.applicationId === null ? 'project' : 'application'
  return row.applicationId === null ? 'tenant' : 'tenant2application'
}

/** A value and the layer that set it; null if no layer did. */
type Sourced<T> = { value: T; layer: LayerName | null }
type SourcedPair = KeyValuePair & { layer: LayerName }

export type EffectiveSettings = {
  backend: { EnabledModules: Sourced<string[]>; KeyValuePairs: SourcedPair[] }
  frontend: {
    EnabledThemes: Sourced<string[]>
    DefaultTheme: Sourced<string>
    EnabledLocales: Sourced<string[]>
    DefaultLocale: Sourced<string>
    KeyValuePairs: SourcedPair[]
  }
}

/** Returns a config with every field, using defaults for missing ones. */
export const fullBackend = (config: Partial<BackendModuleConfig> | null): BackendModuleConfig => ({
  EnabledModules: config?.EnabledModules ?? [],
  KeyValuePairs: config?.KeyValuePairs ?? [],
})

/** Works like `fullBackend`, for frontend configs. */
export const fullFrontend = (config: Partial<FrontendModuleConfig> | null): FrontendModuleConfig => ({
  EnabledThemes: config?.EnabledThemes ?? [],
  DefaultTheme: config?.DefaultTheme ?? '',
  EnabledLocales: config?.EnabledLocales ?? [],
  DefaultLocale: config?.DefaultLocale ?? '',
  KeyValuePairs: config?.KeyValuePairs ?? [],
})

/**
 * Merges the layers. Texts and lists are replaced as a whole, and pairs are merged by key. The most specific layer that
 * sets a value wins.
 */
export function mergeLayers(layers: Layers): EffectiveSettings {
  return {
    backend: {
      EnabledModules: mostSpecific<string[]>(layers, ({ backend }) => backend.EnabledModules, []),
      KeyValuePairs: mergePairs(layers, ({ backend }) => backend.KeyValuePairs),
    },
    frontend: {
      EnabledThemes: mostSpecific<string[]>(layers, ({ frontend }) => frontend.EnabledThemes, []),
      DefaultTheme: mostSpecific<string>(layers, ({ frontend }) => frontend.DefaultTheme, ''),
      EnabledLocales: mostSpecific<string[]>(layers, ({ frontend }) => frontend.EnabledLocales, []),
      DefaultLocale: mostSpecific<string>(layers, ({ frontend }) => frontend.DefaultLocale, ''),
      KeyValuePairs: mergePairs(layers, ({ frontend }) => frontend.KeyValuePairs),
    },
  }
}

/** Returns the most specific non-empty value. An empty value inherits, because rows are created empty. */
function mostSpecific<T extends string | string[]>(
  layers: Layers,
  read: (configs: ModuleConfigs) => T,
  empty: T,
): Sourced<T> {
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
  const merged = new Map<string, SourcedPair>()
  for (const layer of layerNames) {
    const configs = layers[layer]
    if (configs === undefined) continue
    for (const { Key, Value } of read(configs)) merged.set(Key, { Key, Value, layer })
  }
  return [...merged.values()]
}
