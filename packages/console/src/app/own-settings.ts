// The values that a settings layer sets itself.
import type { TenantSettingsResult } from '../generated/documents.ts'

export type SettingsContent = Omit<TenantSettingsResult['settings'], 'id'>
export type OwnSetting = { readonly key: string; readonly value: string }

const secretPattern =
  /pass(?:word|wd|phrase|code)|pwd|secret|token|credential|api[_.-]?key|private[_.-]?key|access[_.-]?key|connection[_.-]?string|\bdsn\b|database[_.-]?url/i

/** Returns whether the values of a key are hidden until a person asks for them. */
export const isSecretKey = (key: string): boolean => secretPattern.test(key)

/** Returns the values of a layer that are not inherited, with lists as text. */
export function listOwnSettings({ backendSetting, frontendSetting }: SettingsContent): readonly OwnSetting[] {
  const { EnabledModules, KeyValuePairs } = backendSetting.moduleConfig
  const frontend = frontendSetting.moduleConfig
  const named = [
    ['DefaultTheme', frontend.DefaultTheme],
    ['EnabledThemes', frontend.EnabledThemes.join(', ')],
    ['DefaultLocale', frontend.DefaultLocale],
    ['EnabledLocales', frontend.EnabledLocales.join(', ')],
    ['EnabledModules', EnabledModules.join(', ')],
  ] as const
  return [
    ...named.filter(([, value]) => value !== '').map(([key, value]) => ({ key, value })),
    ...[...frontend.KeyValuePairs, ...KeyValuePairs].map(({ Key, Value }) => ({ key: Key, value: Value })),
  ]
}
