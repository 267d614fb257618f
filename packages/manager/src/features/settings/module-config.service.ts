// Validates and updates module configs.
import { badRequest } from '../../platform/errors.ts'
import { type KeyValuePair, checkPairs } from '../../platform/inputs/key-value-pairs.ts'
import { checkName, checkText, changesOf } from '../../platform/inputs/inputs.ts'
import type { BackendModuleConfig, FrontendModuleConfig } from './layers.pure.ts'
import { findReservedKeyProblem, isFrontendKey } from './reserved-keys.pure.ts'

type Update<Config> = { readonly [Field in keyof Config]?: Readonly<Config[Field]> | null }
export type BackendUpdate = Update<BackendModuleConfig>
export type FrontendUpdate = Update<FrontendModuleConfig>

const maxEntries = 1_000
// Module names are package names, which have at most this length.
const moduleNameLength = 214
const nameLength = 100

/** Returns the config with the given fields replaced. Throws if a field breaks a rule. */
export function changeBackend(config: BackendModuleConfig, update: BackendUpdate): BackendModuleConfig {
  // Only the written pairs are checked: an earlier release accepted the key, and other fields of such a row must stay
  // editable.
  const misplaced = (update.KeyValuePairs ?? []).find(({ Key }) => isFrontendKey(Key))
  if (misplaced !== undefined)
    throw badRequest(
      `${misplaced.Key} has no effect in the backend part; save it with updateFrontendModuleConfig`,
    )
  const changed = { ...config, ...changesOf(update) }
  return {
    EnabledModules: checkNames(changed.EnabledModules, 'EnabledModules', moduleNameLength),
    KeyValuePairs: checkConfigPairs(changed.KeyValuePairs),
  }
}

/** Works like `changeBackend`, for frontend configs. */
export function changeFrontend(config: FrontendModuleConfig, update: FrontendUpdate): FrontendModuleConfig {
  const changed = { ...config, ...changesOf(update) }
  return {
    EnabledThemes: checkNames(changed.EnabledThemes, 'EnabledThemes', nameLength),
    DefaultTheme: checkDefault(changed.DefaultTheme, 'DefaultTheme'),
    EnabledLocales: checkNames(changed.EnabledLocales, 'EnabledLocales', nameLength),
    DefaultLocale: checkDefault(changed.DefaultLocale, 'DefaultLocale'),
    KeyValuePairs: checkConfigPairs(changed.KeyValuePairs),
  }
}

/** Returns the name, or an empty string if it is blank. */
function checkDefault(value: string, field: string): string {
  return value.trim() === '' ? '' : checkText(value, field, nameLength)
}

function checkNames(names: readonly string[], field: string, maxLength: number): string[] {
  if (names.length > maxEntries) throw badRequest(`${field} must have at most ${maxEntries} entries`)
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw badRequest(`${field} has ${JSON.stringify(repeated)} more than once`)
  return names.map((name) => checkName(name, `every entry of ${field}`, maxLength))
}

function checkConfigPairs(pairs: readonly KeyValuePair[]): KeyValuePair[] {
  const problem = findReservedKeyProblem(pairs)
  if (problem !== null) throw badRequest(problem)
  return checkPairs(pairs, 'KeyValuePairs')
}
