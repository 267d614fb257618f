// Old settings have three layers: project, tenant and application, where an application is the clone of one tenant.
// They become four layers: project, application, tenant, and the settings of the application in the tenant. The
// effective settings in a tenant stay the same, including the order of pairs. All functions here are pure.
import {
  type BackendModuleConfig,
  type FrontendModuleConfig,
  type KeyValuePair,
  fillBackendDefaults,
  fillFrontendDefaults,
} from '@manager/manager/rules'

export type Configs = { backend: BackendModuleConfig; frontend: FrontendModuleConfig }
export const createEmptyConfigs = (): Configs => ({
  backend: fillBackendDefaults(null),
  frontend: fillFrontendDefaults(null),
})
export const isEmpty = ({ backend, frontend }: Configs): boolean =>
  [...Object.values(backend), ...Object.values(frontend)].every((value) => value.length === 0)

type TextField = 'EnabledModules' | 'EnabledThemes' | 'DefaultTheme' | 'EnabledLocales' | 'DefaultLocale'
const wholeFields = [
  ['backend', 'EnabledModules'],
  ['frontend', 'EnabledThemes'],
  ['frontend', 'DefaultTheme'],
  ['frontend', 'EnabledLocales'],
  ['frontend', 'DefaultLocale'],
] as const
const sides = ['backend', 'frontend'] as const
type Value = string | string[]
const getValue = (configs: Configs, side: 'backend' | 'frontend', field: TextField): Value =>
  (configs[side] as unknown as Record<TextField, Value>)[field]
const setValue = (configs: Configs, side: 'backend' | 'frontend', field: TextField, value: Value): void => {
  ;(configs[side] as unknown as Record<TextField, Value>)[field] = value
}
const isSame = (a: Value, b: Value): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The settings that all clones so far have in common. Their size does not grow with the number of clones. */
export type CommonSettings = {
  /** Null before the first clone. */
  configs: Configs | null
}
export const createCommonSettings = (): CommonSettings => ({ configs: null })

/**
 * Updates the common settings with one more clone. A whole field is common if all clones have the same value.
 *
 * The order of pairs limits which pairs are common: application pairs now precede tenant pairs, but followed them
 * before. Only the pairs before the first difference between clones are therefore common. If a tenant has keys
 * that its project does not have, no pairs are common. A key of the project is an exception, because it keeps its
 * position whichever layer overrides it.
 */
export function addClone(common: CommonSettings, clone: Configs, project: Configs, tenant: Configs): void {
  const shareableConfigs = createEmptyConfigs()
  for (const [side, field] of wholeFields)
    setValue(shareableConfigs, side, field, getValue(clone, side, field))
  for (const side of sides) {
    const projectKeys = getKeys(project[side].KeyValuePairs)
    const overrides = clone[side].KeyValuePairs.filter(({ Key }) => projectKeys.has(Key))
    const additions = clone[side].KeyValuePairs.filter(({ Key }) => !projectKeys.has(Key))
    const canShareAdditions = tenant[side].KeyValuePairs.every(({ Key }) => projectKeys.has(Key))
    shareableConfigs[side].KeyValuePairs = [...overrides, ...(canShareAdditions ? additions : [])]
  }
  common.configs =
    common.configs === null ? shareableConfigs : intersect(common.configs, shareableConfigs, project)
}

function intersect(commonSoFar: Configs, shareableConfigs: Configs, project: Configs): Configs {
  const commonConfigs = createEmptyConfigs()
  for (const [side, field] of wholeFields)
    if (isSame(getValue(commonSoFar, side, field), getValue(shareableConfigs, side, field)))
      setValue(commonConfigs, side, field, getValue(shareableConfigs, side, field))
  for (const side of sides) {
    const projectKeys = getKeys(project[side].KeyValuePairs)
    const values = new Map(shareableConfigs[side].KeyValuePairs.map(({ Key, Value }) => [Key, Value]))
    const overrides = commonSoFar[side].KeyValuePairs.filter(
      ({ Key, Value }) => projectKeys.has(Key) && values.get(Key) === Value,
    )
    const [commonPairs, shareablePairs] = [commonSoFar, shareableConfigs].map((configs) =>
      configs[side].KeyValuePairs.filter(({ Key }) => !projectKeys.has(Key)),
    ) as [KeyValuePair[], KeyValuePair[]]
    const firstDifference = commonPairs.findIndex(({ Key, Value }, index) => {
      const shareablePair = shareablePairs[index]
      return shareablePair?.Key !== Key || shareablePair.Value !== Value
    })
    commonConfigs[side].KeyValuePairs = [
      ...overrides,
      ...(firstDifference < 0 ? commonPairs : commonPairs.slice(0, firstDifference)),
    ]
  }
  return commonConfigs
}

/** Returns the settings of the application in a tenant that preserve the effective settings. */
export function computeLeafSettings(layers: {
  project: Configs
  application: Configs
  tenant: Configs
  clone: Configs
}): Configs {
  const { project, application, tenant, clone } = layers
  const leafConfigs = createEmptyConfigs()
  for (const [side, field] of wholeFields) {
    const pick = (...from: Configs[]): Value =>
      from.map((configs) => getValue(configs, side, field)).find((value) => value.length > 0) ?? ''
    const oldValue = pick(clone, tenant, project)
    if (!isSame(oldValue, pick(tenant, application, project))) setValue(leafConfigs, side, field, oldValue)
  }
  for (const side of sides) {
    const currentValues = new Map<string, string>()
    for (const layer of [project, application, tenant])
      for (const { Key, Value } of layer[side].KeyValuePairs) currentValues.set(Key, Value)
    leafConfigs[side].KeyValuePairs = clone[side].KeyValuePairs.filter(
      ({ Key, Value }) => currentValues.get(Key) !== Value,
    )
  }
  return leafConfigs
}

const getKeys = (pairs: readonly KeyValuePair[]): Set<string> => new Set(pairs.map(({ Key }) => Key))
