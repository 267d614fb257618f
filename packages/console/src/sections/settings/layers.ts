// Converts the layers of settings to cells of a table. The merge is the same as in the API, so that the effect of an
// edit is visible before it is saved.
import type { SettingsEffectiveResult, SettingsLayerResult } from '../../generated/documents.ts'

export { isSecretKey } from '../../app/own-settings.ts'

/** Ordered from the most general to the most specific layer. */
export const layerNames = ['project', 'application', 'tenant', 'tenant2application'] as const
export type LayerName = (typeof layerNames)[number]
export type Part = 'frontend' | 'backend'

const fixedKeys = {
  frontend: { DefaultLocale: 'text', DefaultTheme: 'text', EnabledLocales: 'list', EnabledThemes: 'list' },
  backend: { EnabledModules: 'list' },
} as const
/** A key-value pair has its own key; a text or a list is a fixed field of the API. */
export type Field = {
  readonly id: string
  readonly part: Part
  readonly key: string
  readonly kind: 'pair' | 'text' | 'list'
}
/** Values by field id. Lists are joined; an empty text or list counts as not set. */
type Values = ReadonlyMap<string, string>
export type Layer = {
  /** Null if saving the first value creates the settings. */
  readonly settingsId: string | null
  readonly revision: number
  readonly values: Values
}
/** A layer is null if its object has not been chosen or does not exist. */
export type Layers = Readonly<Record<LayerName, Layer | null>>
/** New values by cell id; null removes the value. */
export type Edits = ReadonlyMap<string, string | null>

export const createField = (part: Part, key: string, kind: Field['kind'] = 'pair'): Field => ({
  id: `${part}/${kind}/${key}`,
  part,
  key,
  kind,
})
export const toCellId = (layer: LayerName, field: Field): string => `${layer}/${field.id}`

export const joinList = (items: readonly string[]): string => items.join(', ')
export const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

const fixedFields: readonly Field[] = (['frontend', 'backend'] as const).flatMap((part) =>
  Object.entries(fixedKeys[part]).map(([key, kind]) => createField(part, key, kind)),
)

type Settings = SettingsLayerResult['settings']

export function toLayer({ id, revision, backendSetting, frontendSetting }: Settings): Layer {
  const configs = { backend: backendSetting.moduleConfig, frontend: frontendSetting.moduleConfig }
  const fixed = fixedFields.map((field) => {
    const value = (configs[field.part] as unknown as Record<string, string | readonly string[]>)[field.key]
    return [field.id, typeof value === 'string' ? value : joinList(value ?? [])] as const
  })
  const pairs = (['frontend', 'backend'] as const).flatMap((part) =>
    configs[part].KeyValuePairs.map(({ Key, Value }) => [createField(part, Key).id, Value] as const),
  )
  return {
    settingsId: id,
    revision,
    values: new Map([...fixed.filter(([, value]) => value !== ''), ...pairs]),
  }
}

export const emptyLayer: Layer = { settingsId: null, revision: 0, values: new Map() }

/**
 * Returns all fields in the order of the API: first the fixed fields, then the keys in the order of their first
 * occurrence.
 */
export function listFields(layers: Layers, added: readonly Field[]): readonly Field[] {
  const known = new Map(fixedFields.map((field) => [field.id, field]))
  for (const name of layerNames)
    for (const id of layers[name]?.values.keys() ?? []) {
      const [part, kind, ...key] = id.split('/')
      if (!known.has(id)) known.set(id, createField(part as Part, key.join('/'), kind as Field['kind']))
    }
  for (const field of added) known.set(field.id, field)
  return [...known.values()]
}

type LayerValues = Readonly<Record<LayerName, string | null>>
export type Row = {
  readonly field: Field
  /** The values with the edits applied. */
  readonly values: LayerValues
  readonly saved: LayerValues
  readonly winner: LayerName | null
  readonly effective: string | null
  readonly savedEffective: string | null
}

const findWinner = (values: LayerValues): LayerName | null =>
  layerNames.findLast((name) => values[name] !== null) ?? null

const readLayers = (pick: (name: LayerName) => string | null): LayerValues => ({
  project: pick('project'),
  application: pick('application'),
  tenant: pick('tenant'),
  tenant2application: pick('tenant2application'),
})

export function createRow(field: Field, layers: Layers, edits: Edits): Row {
  const saved = readLayers((name) => layers[name]?.values.get(field.id) ?? null)
  const values = readLayers((name) => {
    const edit = edits.get(toCellId(name, field))
    return edit === undefined ? saved[name] : edit
  })
  const [winner, savedWinner] = [findWinner(values), findWinner(saved)]
  return {
    field,
    values,
    saved,
    winner,
    effective: winner === null ? null : values[winner],
    savedEffective: savedWinner === null ? null : saved[savedWinner],
  }
}

export type Effective = ReadonlyMap<string, { readonly value: string; readonly layer: LayerName }>

/** Returns the effective values of another tenant, by field id. */
export function toEffective({ backend, frontend }: SettingsEffectiveResult['effectiveSettings']): Effective {
  const parts = { backend, frontend }
  const fixed = fixedFields.flatMap((field) => {
    const source = (
      parts[field.part] as unknown as Record<
        string,
        { value: string | readonly string[]; layer: LayerName | null }
      >
    )[field.key]
    if (source === undefined || source.layer === null) return []
    const value = typeof source.value === 'string' ? source.value : joinList(source.value)
    return [[field.id, { value, layer: source.layer }] as const]
  })
  const pairs = (['frontend', 'backend'] as const).flatMap((part) =>
    parts[part].KeyValuePairs.map(
      ({ Key, Value, layer }) =>
        [createField(part, Key).id, { value: Value, layer: layer as LayerName }] as const,
    ),
  )
  return new Map([...fixed, ...pairs])
}
