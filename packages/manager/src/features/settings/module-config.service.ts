// Validates and updates module configs.
import { badRequest } from '../../platform/errors.ts'
import { checkEach, checkInput } from '../../platform/inputs/fields.ts'
import {
  type KeyChanges,
  type KeyValuePair,
  applyKeyChanges,
  checkPairs,
} from '../../platform/inputs/key-value-pairs.ts'
import { checkName, checkText, selectChanges } from '../../platform/inputs/inputs.ts'
import type { BackendModuleConfig, FrontendModuleConfig } from './layers.pure.ts'
import { findReservedKeyProblem, isFrontendKey } from './reserved-keys.pure.ts'

type Update<Config> = { readonly [Field in keyof Config]?: Readonly<Config[Field]> | null }
export type BackendUpdate = Update<BackendModuleConfig>
export type FrontendUpdate = Update<FrontendModuleConfig>

const maxEntries = 1_000
// Module names are package names, which have at most this length.
const maxModuleNameLength = 214
const maxNameLength = 100

/** Returns the config with the given fields replaced. Throws if a field breaks a rule. */
export function changeBackend(config: BackendModuleConfig, update: BackendUpdate): BackendModuleConfig {
  const updatedConfig = { ...config, ...selectChanges(update) }
  return checkInput({
    EnabledModules: () => checkNames(updatedConfig.EnabledModules, 'EnabledModules', maxModuleNameLength),
    KeyValuePairs: () => {
      // Only the pairs in the update are checked. Rows from an earlier release can contain keys that are now rejected,
      // and their other fields must stay editable.
      rejectFrontendKeys(update.KeyValuePairs ?? [])
      return checkConfigPairs(updatedConfig.KeyValuePairs)
    },
  })
}

/** Returns the config with keys set and removed. Throws if a key or a value breaks a rule. */
export function changeBackendKeys(config: BackendModuleConfig, keys: KeyChanges): BackendModuleConfig {
  rejectFrontendKeys(keys.set ?? [])
  return { ...config, KeyValuePairs: checkConfigPairs(applyKeyChanges(config.KeyValuePairs, keys)) }
}

/** Works like `changeBackendKeys`, for frontend configs. */
export const changeFrontendKeys = (config: FrontendModuleConfig, keys: KeyChanges): FrontendModuleConfig => ({
  ...config,
  KeyValuePairs: checkConfigPairs(applyKeyChanges(config.KeyValuePairs, keys)),
})

/** Works like `changeBackend`, for frontend configs. */
export function changeFrontend(config: FrontendModuleConfig, update: FrontendUpdate): FrontendModuleConfig {
  const updatedConfig = { ...config, ...selectChanges(update) }
  return checkInput({
    EnabledThemes: () => checkNames(updatedConfig.EnabledThemes, 'EnabledThemes', maxNameLength),
    DefaultTheme: () => checkDefault(updatedConfig.DefaultTheme, 'DefaultTheme'),
    EnabledLocales: () => checkNames(updatedConfig.EnabledLocales, 'EnabledLocales', maxNameLength),
    DefaultLocale: () => checkDefault(updatedConfig.DefaultLocale, 'DefaultLocale'),
    KeyValuePairs: () => checkConfigPairs(updatedConfig.KeyValuePairs),
  })
}

function rejectFrontendKeys(pairs: readonly KeyValuePair[]): void {
  checkEach(pairs, ({ Key }) => {
    if (isFrontendKey(Key))
      throw badRequest(
        `${Key} has no effect in the backend part; save it with updateFrontendModuleConfig`,
        'Key',
      )
  })
}

/** Returns the name, or an empty string if it is blank. */
function checkDefault(value: string, field: string): string {
  return value.trim() === '' ? '' : checkText(value, field, maxNameLength)
}

function checkNames(names: readonly string[], field: string, maxLength: number): string[] {
  if (names.length > maxEntries) throw badRequest(`${field} must have at most ${maxEntries} entries`)
  const repeatedName = names.find((name, index) => names.indexOf(name) !== index)
  if (repeatedName !== undefined)
    throw badRequest(`${field} contains ${JSON.stringify(repeatedName)} more than once`)
  return checkEach(names, (name) => checkName(name, `every entry of ${field}`, maxLength))
}

function checkConfigPairs(pairs: readonly KeyValuePair[]): KeyValuePair[] {
  checkEach(pairs, (pair) => {
    const problem = findReservedKeyProblem([pair])
    if (problem !== null) throw badRequest(problem, 'Value')
  })
  return checkPairs(pairs, 'KeyValuePairs')
}
