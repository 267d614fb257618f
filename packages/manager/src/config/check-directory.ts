// Checks the settings of the LDAP directory together. Settings that would silently have no effect are rejected.
import { directorySettings } from './directory-settings.ts'
import type { ValuesOf } from './readers.ts'

type DirectoryValues = ValuesOf<typeof directorySettings>
type Name = keyof DirectoryValues

const names = Object.keys(directorySettings) as Name[]
const nameSetting = (name: Name): string => `${directorySettings[name].env} (${directorySettings[name].key})`

/** Returns the problems of the directory settings. `invalidNames` lists settings whose values are already reported. */
export function checkDirectory(
  provider: string,
  values: DirectoryValues,
  invalidNames: ReadonlySet<string>,
): string[] {
  const known = (name: Name): boolean => !invalidNames.has(name)
  if (provider !== 'ldap')
    return names
      .filter((name) => known(name) && isChanged(name, values))
      .map(
        (name) =>
          `${nameSetting(name)} is set, but SVC_USERS_PROVIDER (users.provider) is ${provider}; set the provider to ldap, or remove ${nameSetting(name)}`,
      )
  const missing = (['ldapUrls', 'ldapBaseDn'] as const)
    .filter((name) => known(name) && values[name] === undefined)
    .map(
      (name) =>
        `${nameSetting(name)} is required when SVC_USERS_PROVIDER (users.provider) is ldap: ${directorySettings[name].doc}`,
    )
  return [...missing, ...checkAccount(values, known), ...checkEncryption(values, known)]
}

function isChanged(name: Name, values: DirectoryValues): boolean {
  const { default: initial } = directorySettings[name] as { default?: unknown }
  return values[name] !== undefined && values[name] !== initial
}

function checkAccount(values: DirectoryValues, known: (name: Name) => boolean): string[] {
  const isIncomplete =
    known('ldapBindDn') &&
    known('ldapBindPassword') &&
    (values.ldapBindDn === undefined) !== (values.ldapBindPassword === undefined)
  const problems = isIncomplete
    ? [`set both ${nameSetting('ldapBindDn')} and ${nameSetting('ldapBindPassword')}, or neither`]
    : []
  if (
    known('ldapConnectTimeoutMs') &&
    known('ldapRequestTimeoutMs') &&
    values.ldapConnectTimeoutMs > values.ldapRequestTimeoutMs
  )
    problems.push(
      `${nameSetting('ldapConnectTimeoutMs')} is longer than ${nameSetting('ldapRequestTimeoutMs')}; a request would time out before the connection does`,
    )
  return problems
}

function checkEncryption(values: DirectoryValues, known: (name: Name) => boolean): string[] {
  const { ldapUrls: urls = [], ldapStartTls, ldapAllowUnencrypted, ldapCaBundle } = values
  if (urls.length === 0 || !known('ldapStartTls') || !known('ldapAllowUnencrypted')) return []
  const plainCount = urls.filter((url) => url.startsWith('ldap:')).length
  if (plainCount > 0 && plainCount < urls.length)
    return [`${nameSetting('ldapUrls')} must not mix ldap:// and ldaps://`]
  const isPlain = plainCount > 0
  const reject = (isSet: boolean, name: Name, reason: string): string[] =>
    isSet ? [`${nameSetting(name)} is set, but ${reason}; remove it`] : []
  if (!isPlain)
    return [
      ...reject(ldapStartTls, 'ldapStartTls', 'connections to ldaps:// are already encrypted'),
      ...reject(ldapAllowUnencrypted, 'ldapAllowUnencrypted', 'connections to ldaps:// are encrypted'),
    ]
  if (ldapStartTls)
    return reject(ldapAllowUnencrypted, 'ldapAllowUnencrypted', 'StartTLS encrypts the connections')
  if (!ldapAllowUnencrypted)
    return [
      `${nameSetting('ldapUrls')} has an ldap:// URL, so the bind password would be sent unencrypted; use ldaps://, or set ${nameSetting('ldapStartTls')}, or accept it with ${nameSetting('ldapAllowUnencrypted')}`,
    ]
  return reject(ldapCaBundle !== undefined, 'ldapCaBundle', 'the connections are not encrypted')
}
