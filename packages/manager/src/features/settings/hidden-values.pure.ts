// Lists the values that a more specific layer hides, so that users can find the source of an effective value.
import type { KeyValuePair } from '../../platform/inputs/key-value-pairs.ts'
import {
  type EffectiveSettings,
  type LayerName,
  type Layers,
  type ModuleConfigs,
  layerNames,
} from './layers.pure.ts'

/** A value that is not effective, and the layer that sets it. */
type HiddenValue<T> = { value: T; layer: LayerName }
/** The effective settings. Each value has the list of values that it hides, with the most specific layer first. */
export type ExplainedSettings = ReturnType<typeof addHiddenValues>

const layersFromSpecific = layerNames.toReversed()

/** Adds the hidden values to the effective settings of these layers. */
export function addHiddenValues({ backend, frontend }: EffectiveSettings, layers: Layers) {
  const explain = <T extends string | string[]>(
    effective: { value: T; layer: LayerName | null },
    read: (configs: ModuleConfigs) => T,
  ) => ({ ...effective, hidden: findHiddenValues(layers, effective.layer, read) })
  return {
    backend: {
      EnabledModules: explain(backend.EnabledModules, (configs) => configs.backend.EnabledModules),
      KeyValuePairs: explainPairs(backend.KeyValuePairs, layers, (configs) => configs.backend.KeyValuePairs),
    },
    frontend: {
      EnabledThemes: explain(frontend.EnabledThemes, (configs) => configs.frontend.EnabledThemes),
      DefaultTheme: explain(frontend.DefaultTheme, (configs) => configs.frontend.DefaultTheme),
      EnabledLocales: explain(frontend.EnabledLocales, (configs) => configs.frontend.EnabledLocales),
      DefaultLocale: explain(frontend.DefaultLocale, (configs) => configs.frontend.DefaultLocale),
      KeyValuePairs: explainPairs(
        frontend.KeyValuePairs,
        layers,
        (configs) => configs.frontend.KeyValuePairs,
      ),
    },
  }
}

/** Returns the non-empty values of the layers that are less specific than the effective layer. */
function findHiddenValues<T extends string | string[]>(
  layers: Layers,
  effectiveLayer: LayerName | null,
  read: (configs: ModuleConfigs) => T,
): HiddenValue<T>[] {
  if (effectiveLayer === null) return []
  const hiddenLayers = layersFromSpecific.slice(layersFromSpecific.indexOf(effectiveLayer) + 1)
  return hiddenLayers.flatMap((layer) => {
    const configs = layers[layer]
    const value = configs === undefined ? null : read(configs)
    return value === null || value.length === 0 ? [] : [{ value, layer }]
  })
}

/** An empty value hides other values, too: a key is set as soon as it exists. */
function explainPairs<Pair extends KeyValuePair & { layer: LayerName }>(
  pairs: readonly Pair[],
  layers: Layers,
  read: (configs: ModuleConfigs) => readonly KeyValuePair[],
): (Pair & { hidden: HiddenValue<string>[] })[] {
  const explainedPairs = pairs.map((pair) => ({ ...pair, hidden: [] as HiddenValue<string>[] }))
  const pairsByKey = new Map(explainedPairs.map((pair) => [pair.Key, pair]))
  for (const layer of layersFromSpecific) {
    const configs = layers[layer]
    if (configs === undefined) continue
    for (const { Key, Value } of read(configs)) {
      const pair = pairsByKey.get(Key)
      if (pair !== undefined && pair.layer !== layer) pair.hidden.push({ value: Value, layer })
    }
  }
  return explainedPairs
}
