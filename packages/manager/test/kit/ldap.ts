// People in an LDAP directory: their entries as LDIF, and the settings of a service or a directory that uses them.
import { createCertificate } from '@manager/harness/certificates.ts'
import { type Slapd, slapdBase, slapdReader } from '@manager/harness/engines/slapd.ts'
import type { Metrics } from '../../src/platform/metrics.ts'
import { createDirectoryMetrics } from '../../src/platform/directory/directory-metrics.ts'
import { directoryFields } from '../../src/platform/directory/directory.ts'
import { type LdapOptions, createLdapDirectory } from '../../src/platform/directory/ldap-directory.ts'
import { type ListArgs, readPage } from '../../src/platform/lists/filters.ts'
import type { Logger } from '../../src/platform/log/log.ts'
import { createNameResolver } from '../../src/platform/outbound/names.ts'

export type LdapPerson = {
  id: string
  uid: string
  cn: string
  mail?: string
  /** Further attributes. Buffers are binary values. */
  more?: Record<string, string | Buffer>
}

/** Returns a UUID that is the same in every run. */
export const personId = (number: number): string =>
  `aaaaaaaa-bbbb-4ccc-8ddd-${number.toString(16).padStart(12, '0')}`

const formatLine = (name: string, value: string | Buffer): string =>
  `${name}:: ${Buffer.from(value).toString('base64')}`

/** Returns the entry of a person. */
export function toLdif({ id, uid, cn, mail, more = {} }: LdapPerson): string {
  const values = {
    uid,
    cn,
    sn: cn,
    ...(id === '' ? {} : { entryUUID: id }),
    ...(mail === undefined ? {} : { mail }),
    ...more,
  }
  return [
    `dn: uid=${uid},ou=people,${slapdBase}`,
    'objectClass: inetOrgPerson',
    'objectClass: testAccount',
    ...Object.entries(values).map(([name, value]) => formatLine(name, value)),
    '',
    '',
  ].join('\n')
}

/** Creates a CA, and a certificate of it for loopback addresses. */
export function createLdapCertificates() {
  const ca = createCertificate('Test CA', [])
  return { ca, server: createCertificate('directory', ['127.0.0.1', 'localhost'], { issuer: ca }) }
}

/** Returns the settings of a service that uses the directory. Its time limits are long, for slow machines. */
export const ldapEnv = (slapd: Pick<Slapd, 'url'>): Record<string, string> => ({
  SVC_USERS_PROVIDER: 'ldap',
  SVC_LDAP_URLS: slapd.url,
  SVC_LDAP_ALLOW_UNENCRYPTED: 'true',
  SVC_LDAP_BASE_DN: slapdBase,
  SVC_LDAP_BIND_DN: slapdReader.dn,
  SVC_LDAP_BIND_PASSWORD: slapdReader.password,
  SVC_LDAP_CONNECT_TIMEOUT: '30s',
  SVC_LDAP_REQUEST_TIMEOUT: '60s',
})

/** Returns the options of a directory. Its time limits are long, so that slow machines do not fail tests. */
export const ldapOptions = (slapd: Pick<Slapd, 'url'>, changes: Partial<LdapOptions> = {}): LdapOptions => ({
  urls: [slapd.url],
  encryption: { startTls: false, caFile: null },
  account: slapdReader,
  baseDn: slapdBase,
  userFilter: '(objectClass=person)',
  searchFilter: null,
  attributes: { id: 'entryUUID', username: 'uid', email: 'mail', name: 'cn', disabled: null },
  maxResults: 500,
  maxConcurrent: 8,
  connectTimeoutMs: 20_000,
  requestTimeoutMs: 30_000,
  lookup: createNameResolver().createLookup('tests'),
  ...changes,
})

/** Creates a directory with shorter calls: `namesOf` returns the names that a text finds, in order. */
export function createTestDirectory(options: LdapOptions, deps: { log: Logger; metrics: Metrics }) {
  const metrics = createDirectoryMetrics(deps.metrics)
  const directory = createLdapDirectory(options, { log: deps.log, metrics })
  const searchPage = (text: string, args: ListArgs = {}, callerId = 'caller') =>
    directory.search(text, readPage(directoryFields, args), callerId)
  return {
    directory,
    searchPage,
    /** Returns the rows without the properties of the page. */
    search: async (...args: Parameters<typeof searchPage>) => [...(await searchPage(...args))],
    namesOf: async (text: string, args?: ListArgs): Promise<string[]> =>
      (await searchPage(text, args)).map(({ displayName }) => displayName),
    find: (id: string) => directory.find(id, 'caller'),
  }
}
