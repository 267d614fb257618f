// The cascade: how the settings of four layers become what holds for one application in one tenant. Pure.
import type { KeyValuePair } from '../../platform/inputs/key-value-pairs.ts'

export type BackendModuleConfig = { EnabledModules: string[]; KeyValuePairs: KeyValuePair[] }
export type FrontendModuleConfig = {
  EnabledThemes: string[]
  DefaultTheme: string
  EnabledLocales: string[]
  DefaultLocale: string
  KeyValuePairs: KeyValuePair[]
}

/** From the most general to the most specific. */
const layerNames = ['project', 'application', 'tenant', 'tenant2application'] as const
type LayerName = (typeof layerNames)[number]
type ModuleConfigs = { backend: BackendModuleConfig; frontend: FrontendModuleConfig }
/** What each layer sets; one without a row sets nothing. */
export type Layers = Partial<Record<LayerName, ModuleConfigs>>

/** The layer a row belongs to, given by the owners it names. */
export function layerOf(row: { tenantId: string | null; applicationId: string | null }): LayerName {
  if (row.tenantId === null) return row.applicationId === null ? 'project' : 'application'
  return row.applicationId === null ? 'tenant' : 'tenant2application'
}

/** A value and the layer that set it; null when none did. */
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

/** A config with every field, from one that may lack some. */
export const fullBackend = (config: Partial<BackendModuleConfig> | null): BackendModuleConfig => ({
  EnabledModules: config?.EnabledModules ?? [],
  KeyValuePairs: config?.KeyValuePairs ?? [],
})

/** The same for a frontend's. */
export const fullFrontend = (config: Partial<FrontendModuleConfig> | null): FrontendModuleConfig => ({
  EnabledThemes: config?.EnabledThemes ?? [],
  DefaultTheme: config?.DefaultTheme ?? '',
  EnabledLocales: config?.EnabledLocales ?? [],
  DefaultLocale: config?.DefaultLocale ?? '',
  KeyValuePairs: config?.KeyValuePairs ?? [],
})

/** Merges the layers: texts and lists whole, pairs by key; the most specific layer that sets one wins. */
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

/** The last value that is not empty: an empty one inherits, because rows are created empty. */
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

/** A key keeps the place where it first appeared, so that the order does not depend on who overrides it. */
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
