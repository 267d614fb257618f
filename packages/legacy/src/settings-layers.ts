// Old settings have three layers: project, tenant and application, where an application is the clone of one tenant.
// They become four layers: project, application, tenant, and the settings of the application in the tenant. The
// effective settings of a tenant stay the same, including the order of pairs. Pure.
import {
  type BackendModuleConfig,
  type FrontendModuleConfig,
  type KeyValuePair,
  fullBackend,
  fullFrontend,
} from '@manager/manager/rules'

export type Configs = { backend: BackendModuleConfig; frontend: FrontendModuleConfig }
export const emptyConfigs = (): Configs => ({ backend: fullBackend(null), frontend: fullFrontend(null) })
export const isEmpty = ({ backend, frontend }: Configs): boolean =>
  [...Object.values(backend), ...Object.values(frontend)].every((value) => value.length === 0)

type Texts = 'EnabledModules' | 'EnabledThemes' | 'DefaultTheme' | 'EnabledLocales' | 'DefaultLocale'
const wholeFields = [
  ['backend', 'EnabledModules'],
  ['frontend', 'EnabledThemes'],
  ['frontend', 'DefaultTheme'],
  ['frontend', 'EnabledLocales'],
  ['frontend', 'DefaultLocale'],
] as const
const sides = ['backend', 'frontend'] as const
type Value = string | string[]
const valueOf = (configs: Configs, side: 'backend' | 'frontend', field: Texts): Value =>
  (configs[side] as unknown as Record<Texts, Value>)[field]
const setValue = (configs: Configs, side: 'backend' | 'frontend', field: Texts, value: Value): void => {
  ;(configs[side] as unknown as Record<Texts, Value>)[field] = value
}
const isSame = (a: Value, b: Value): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The settings that all clones so far have in common. Their size does not grow with the number of clones. */
export type Common = {
  /** Null before the first clone. */
  configs: Configs | null
}
export const createCommon = (): Common => ({ configs: null })

/**
 * Adds a clone. A whole field is common as long as all clones have the same value. Pairs are common up to the first
 * difference, because the pairs of an application now precede those of tenants, but followed them before. For the same
 * reason, no pairs are common if a tenant has keys that its project does not have. A key of the project keeps its
 * position, whichever layer overrides it.
 */
export function addClone(common: Common, clone: Configs, project: Configs, tenant: Configs): void {
  const own = emptyConfigs()
  for (const [side, field] of wholeFields) setValue(own, side, field, valueOf(clone, side, field))
  for (const side of sides) {
    const known = keysOf(project[side].KeyValuePairs)
    const overrides = clone[side].KeyValuePairs.filter(({ Key }) => known.has(Key))
    const added = clone[side].KeyValuePairs.filter(({ Key }) => !known.has(Key))
    const isTenantOrdered = tenant[side].KeyValuePairs.every(({ Key }) => known.has(Key))
    own[side].KeyValuePairs = [...overrides, ...(isTenantOrdered ? added : [])]
  }
  common.configs = common.configs === null ? own : intersect(common.configs, own, project)
}

function intersect(common: Configs, own: Configs, project: Configs): Configs {
  const both = emptyConfigs()
  for (const [side, field] of wholeFields)
    if (isSame(valueOf(common, side, field), valueOf(own, side, field)))
      setValue(both, side, field, valueOf(own, side, field))
  for (const side of sides) {
    const known = keysOf(project[side].KeyValuePairs)
    const values = new Map(own[side].KeyValuePairs.map(({ Key, Value }) => [Key, Value]))
    const overrides = common[side].KeyValuePairs.filter(
      ({ Key, Value }) => known.has(Key) && values.get(Key) === Value,
    )
    const [ours, theirs] = [common, own].map((configs) =>
      configs[side].KeyValuePairs.filter(({ Key }) => !known.has(Key)),
    ) as [KeyValuePair[], KeyValuePair[]]
    const end = ours.findIndex(({ Key, Value }, index) => {
      const other = theirs[index]
      return other?.Key !== Key || other.Value !== Value
    })
    both[side].KeyValuePairs = [...overrides, ...(end < 0 ? ours : ours.slice(0, end))]
  }
  return both
}

/** Returns the settings of the application in a tenant that keep the effective settings unchanged. */
export function leafSettings(layers: {
  project: Configs
  application: Configs
  tenant: Configs
  clone: Configs
}): Configs {
  const { project, application, tenant, clone } = layers
  const leaf = emptyConfigs()
  for (const [side, field] of wholeFields) {
    const pick = (...from: Configs[]): Value =>
      from.map((configs) => valueOf(configs, side, field)).find((value) => value.length > 0) ?? ''
    const before = pick(clone, tenant, project)
    if (!isSame(before, pick(tenant, application, project))) setValue(leaf, side, field, before)
  }
  for (const side of sides) {
    const now = new Map<string, string>()
    for (const layer of [project, application, tenant])
      for (const { Key, Value } of layer[side].KeyValuePairs) now.set(Key, Value)
    leaf[side].KeyValuePairs = clone[side].KeyValuePairs.filter(({ Key, Value }) => now.get(Key) !== Value)
  }
  return leaf
}

const keysOf = (pairs: readonly KeyValuePair[]): Set<string> => new Set(pairs.map(({ Key }) => Key))
