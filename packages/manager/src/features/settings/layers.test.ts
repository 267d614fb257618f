// These tests compare the cascade with a slow model that shares no code with it.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type EffectiveSettings,
  type Layers,
  fillBackendDefaults,
  fillFrontendDefaults,
  getLayer,
  mergeLayers,
} from './layers.pure.ts'

type Configs = NonNullable<Layers['project']>
type LayerName = keyof Layers
type Pair = { Key: string; Value: string }

const generalFirst: readonly LayerName[] = ['project', 'application', 'tenant', 'tenant2application']
const oddKeys = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', 'polluted']

const anyText = fc.oneof(
  fc.constantFrom('', '', 'a', 'b', 'ü 🙂', '0', 'false', ' '),
  fc.string({ maxLength: 4 }),
)
const anyList = fc.array(fc.constantFrom('x', 'y', 'z', '__proto__'), { maxLength: 3 })
// There are only a few keys, so that several layers have the same key.
const anyKey = fc.oneof(
  fc.constantFrom('a', 'b', 'c', 'A', ' a', ...oddKeys),
  fc.string({ minLength: 1, maxLength: 3 }),
)
const anyPairs: fc.Arbitrary<Pair[]> = fc.uniqueArray(fc.record({ Key: anyKey, Value: anyText }), {
  selector: ({ Key }) => Key,
  maxLength: 6,
})
const anyConfigs: fc.Arbitrary<Configs> = fc.record({
  backend: fc.record({ EnabledModules: anyList, KeyValuePairs: anyPairs }),
  frontend: fc.record({
    EnabledThemes: anyList,
    DefaultTheme: anyText,
    EnabledLocales: anyList,
    DefaultLocale: anyText,
    KeyValuePairs: anyPairs,
  }),
})
/** Generates layers in any order. Any of them may lack a row. */
const anyLayers: fc.Arbitrary<Layers> = fc
  .tuple(
    fc.record(
      { project: anyConfigs, application: anyConfigs, tenant: anyConfigs, tenant2application: anyConfigs },
      { requiredKeys: [] },
    ),
    fc.shuffledSubarray([...generalFirst], { minLength: 4 }),
  )
  .map(([layers, order]) =>
    Object.fromEntries(order.flatMap((name) => (layers[name] === undefined ? [] : [[name, layers[name]]]))),
  )

const emptyConfigs = (): Configs => ({
  backend: fillBackendDefaults(null),
  frontend: fillFrontendDefaults(null),
})

/** Fields whose whole value comes from a single layer. */
const wholeFields = [
  ['backend', 'EnabledModules'],
  ['frontend', 'EnabledThemes'],
  ['frontend', 'DefaultTheme'],
  ['frontend', 'EnabledLocales'],
  ['frontend', 'DefaultLocale'],
] as const
const isList = (field: string): boolean => field.startsWith('Enabled')

type Whole = Record<string, Record<string, unknown>>
type SourcedWhole = Record<string, Record<string, { value: unknown; layer: LayerName | null }>>
/** Returns configs that set only one field. */
const only = (part: string, field: string, value: unknown): Configs => {
  const configs = emptyConfigs()
  const whole = configs as unknown as Whole
  whole[part] = { ...whole[part], [field]: value }
  return configs
}
const read = (merged: EffectiveSettings, part: string, field: string) =>
  (merged as unknown as SourcedWhole)[part]?.[field]

/** Checks every layer for every field, one after the other. */
function slowModel(layers: Layers): unknown {
  const [project, application, tenant, leaf] = generalFirst.map((name) => layers[name])
  const whole = (part: string, field: string) => {
    const valueIn = (configs: Configs | undefined): unknown =>
      configs === undefined ? '' : (configs as unknown as Whole)[part]?.[field]
    const isSet = (value: unknown): boolean => String(value) !== ''
    if (isSet(valueIn(leaf))) return { value: valueIn(leaf), layer: 'tenant2application' }
    if (isSet(valueIn(tenant))) return { value: valueIn(tenant), layer: 'tenant' }
    if (isSet(valueIn(application))) return { value: valueIn(application), layer: 'application' }
    if (isSet(valueIn(project))) return { value: valueIn(project), layer: 'project' }
    return { value: isList(field) ? [] : '', layer: null }
  }
  const pairs = (part: 'backend' | 'frontend') => {
    const all = generalFirst.flatMap((layer) =>
      (layers[layer]?.[part].KeyValuePairs ?? []).map((pair) => ({ ...pair, layer })),
    )
    const isFirst = (pair: Pair, at: number): boolean => !all.slice(0, at).some(({ Key }) => Key === pair.Key)
    return all.filter(isFirst).map(({ Key: wanted }) => all.findLast(({ Key }) => Key === wanted))
  }
  return {
    backend: { EnabledModules: whole('backend', 'EnabledModules'), KeyValuePairs: pairs('backend') },
    frontend: {
      EnabledThemes: whole('frontend', 'EnabledThemes'),
      DefaultTheme: whole('frontend', 'DefaultTheme'),
      EnabledLocales: whole('frontend', 'EnabledLocales'),
      DefaultLocale: whole('frontend', 'DefaultLocale'),
      KeyValuePairs: pairs('frontend'),
    },
  }
}

/** Returns the merged values in the form of a single layer. */
const valuesOf = ({ backend, frontend }: EffectiveSettings): Configs => ({
  backend: { EnabledModules: backend.EnabledModules.value, KeyValuePairs: plain(backend.KeyValuePairs) },
  frontend: {
    EnabledThemes: frontend.EnabledThemes.value,
    DefaultTheme: frontend.DefaultTheme.value,
    EnabledLocales: frontend.EnabledLocales.value,
    DefaultLocale: frontend.DefaultLocale.value,
    KeyValuePairs: plain(frontend.KeyValuePairs),
  },
})
const plain = (pairs: readonly Pair[]): Pair[] => pairs.map(({ Key, Value }) => ({ Key, Value }))

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) freeze(inner)
  return Object.freeze(value)
}

/** All subsets of the layers, including the empty subset. */
const everySubset = Array.from({ length: 16 }, (_, bits) =>
  generalFirst.filter((_, index) => (bits & (1 << index)) !== 0),
)

describe('merging the layers', () => {
  test('[settings.cascade-order] [settings.cascade-values] [settings.cascade-pairs] agrees with the model, whatever the layers hold', () => {
    fc.assert(
      fc.property(anyLayers, (layers) => {
        expect(mergeLayers(layers)).toEqual(slowModel(layers))
      }),
      { numRuns: 2_000 },
    )
  })

  test('[settings.cascade-order] of any choice of layers the most specific one wins, in every field, in whatever order they are given', () => {
    for (const [part, field] of wholeFields)
      for (const setting of everySubset)
        for (const order of [setting, setting.toReversed()]) {
          const valueIn = (name: string) => (isList(field) ? [`of ${name}`] : `of ${name}`)
          const layers = Object.fromEntries(order.map((name) => [name, only(part, field, valueIn(name))]))
          const winner = setting.at(-1)
          expect(read(mergeLayers(layers), part, field)).toEqual(
            winner === undefined
              ? { value: isList(field) ? [] : '', layer: null }
              : { value: valueIn(winner), layer: winner },
          )
        }
  })

  test('[settings.cascade-values] what is empty inherits: an empty layer counts for as much as one without a row', () => {
    fc.assert(
      fc.property(anyLayers, fc.subarray([...generalFirst]), (layers, emptied) => {
        const without = Object.fromEntries(
          Object.entries(layers).filter(([name]) => !emptied.includes(name as LayerName)),
        )
        const withEmpty = Object.fromEntries(emptied.map((name) => [name, emptyConfigs()]))
        expect(mergeLayers({ ...without, ...withEmpty })).toEqual(mergeLayers(without))
      }),
    )
    const nothing = { value: '', layer: null }
    const none = { value: [], layer: null }
    expect(mergeLayers({})).toEqual({
      backend: { EnabledModules: none, KeyValuePairs: [] },
      frontend: {
        EnabledThemes: none,
        DefaultTheme: nothing,
        EnabledLocales: none,
        DefaultLocale: nothing,
        KeyValuePairs: [],
      },
    })
  })

  test('[settings.cascade-values] a list is the list of one layer, never entries of two', () => {
    fc.assert(
      fc.property(anyLayers, (layers) => {
        const merged = mergeLayers(layers)
        for (const [part, field] of wholeFields.filter(([, name]) => isList(name))) {
          const { value, layer } = read(merged, part, field) ?? {}
          const own = layer ? (layers[layer] as unknown as Whole)[part]?.[field] : []
          expect(value).toEqual(own)
        }
      }),
    )
    const project = only('backend', 'EnabledModules', ['a', 'b', 'c'])
    const tenant = only('backend', 'EnabledModules', ['b'])
    expect(mergeLayers({ project, tenant }).backend.EnabledModules.value).toEqual(['b'])
  })

  test('[settings.cascade-pairs] each key on its own has the value of its most specific layer, also an empty one', () => {
    const pairs = (...of: [string, string][]) => of.map(([Key, Value]) => ({ Key, Value }))
    const layers = {
      tenant2application: only('frontend', 'KeyValuePairs', pairs(['c', ''], ['e', 'leaf'])),
      tenant: only('frontend', 'KeyValuePairs', pairs(['c', 'tenant'], ['b', 'tenant'])),
      application: only('frontend', 'KeyValuePairs', pairs(['d', ''], ['b', ''])),
      project: only('frontend', 'KeyValuePairs', pairs(['a', 'project'], ['b', 'project'], ['c', 'project'])),
    }
    const { backend, frontend } = mergeLayers(layers)
    expect(frontend.KeyValuePairs).toEqual([
      { Key: 'a', Value: 'project', layer: 'project' },
      { Key: 'b', Value: 'tenant', layer: 'tenant' },
      { Key: 'c', Value: '', layer: 'tenant2application' },
      { Key: 'd', Value: '', layer: 'application' },
      { Key: 'e', Value: 'leaf', layer: 'tenant2application' },
    ])
    expect(backend.KeyValuePairs).toEqual([])
  })

  test('[settings.cascade-values] [settings.cascade-pairs] merging what was merged changes nothing, whichever layer it is put into', () => {
    fc.assert(
      fc.property(anyLayers, fc.constantFrom(...generalFirst), (layers, name) => {
        const values = valuesOf(mergeLayers(layers))
        expect(valuesOf(mergeLayers({ [name]: values }))).toEqual(values)
      }),
    )
  })

  test('[settings.cascade-order] a layer over an equal one changes no value and is named as their source', () => {
    fc.assert(
      fc.property(anyConfigs, fc.subarray([...generalFirst], { minLength: 2 }), (configs, names) => {
        const merged = mergeLayers(Object.fromEntries(names.map((name) => [name, configs])))
        expect(valuesOf(merged)).toEqual(configs)
        const sources = [
          ...wholeFields.map(([part, field]) => read(merged, part, field)?.layer),
          ...merged.backend.KeyValuePairs.map(({ layer }) => layer),
          ...merged.frontend.KeyValuePairs.map(({ layer }) => layer),
        ]
        expect(sources.filter((layer) => layer !== null && layer !== names.at(-1))).toEqual([])
      }),
    )
  })

  test('[settings.cascade-pairs] keys that objects know by themselves are keys like any other, and nothing is polluted', () => {
    const before = Object.getOwnPropertyNames(Object.prototype)
    const setAll = (Value: string) => oddKeys.map((Key) => ({ Key, Value }))
    const { backend, frontend } = mergeLayers({
      project: only('backend', 'KeyValuePairs', setAll('{"polluted": true}')),
      tenant: only('frontend', 'KeyValuePairs', setAll('tenant')),
      tenant2application: only('frontend', 'KeyValuePairs', setAll('leaf').toReversed()),
    })
    expect(backend.KeyValuePairs).toEqual(
      oddKeys.map((Key) => ({ Key, Value: '{"polluted": true}', layer: 'project' })),
    )
    expect(frontend.KeyValuePairs).toEqual(
      oddKeys.map((Key) => ({ Key, Value: 'leaf', layer: 'tenant2application' })),
    )
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before)
    expect(Object.getPrototypeOf(frontend)).toBe(Object.prototype)
  })

  test('the layers that are merged stay as they were', () => {
    fc.assert(
      fc.property(anyLayers, (layers) => {
        const before = structuredClone(layers)
        mergeLayers(freeze(layers))
        expect(layers).toEqual(before)
      }),
    )
  })

  test('[settings.cascade-application] of a layer nothing counts that is no field of a module config', () => {
    fc.assert(
      fc.property(anyLayers, anyText, (layers, text) => {
        const loaded = Object.fromEntries(
          Object.entries(layers).map(([name, { backend, frontend }]) => {
            const backendAndMore = { ...backend, name: text, EnabledThemes: [text] }
            const frontendAndMore = { ...frontend, description: text, EnabledModules: [text] }
            return [name, { backend: backendAndMore, frontend: frontendAndMore, slug: text }]
          }),
        )
        expect(mergeLayers(loaded)).toEqual(mergeLayers(layers))
      }),
    )
  })
})

test('[settings.container] the owners that a row names tell its layer', () => {
  expect(getLayer({ tenantId: null, applicationId: null })).toBe('project')
  expect(getLayer({ tenantId: null, applicationId: 'a' })).toBe('application')
  expect(getLayer({ tenantId: 't', applicationId: null })).toBe('tenant')
  expect(getLayer({ tenantId: 't', applicationId: 'a' })).toBe('tenant2application')
})
