// Tests the configuration of the user directory: which settings and filters are accepted, and which are rejected.
import { describe, expect, test } from 'vitest'
import { ldapFilter, ldapFilterTemplate, ldapUrlList } from '../../src/config/ldap-readers.ts'
import { minimalEnv, load, problemsOf } from '../kit/config.ts'

const complete = {
  SVC_USERS_PROVIDER: 'ldap',
  SVC_LDAP_URLS: 'ldaps://a.example,ldaps://b.example:3636',
  SVC_LDAP_BASE_DN: 'dc=example',
}
const problems = (env: Record<string, string | undefined>) => problemsOf({ ...minimalEnv, ...env })
const isAccepted = (result: object) => 'value' in result

describe('the directory ldap', () => {
  test('needs servers and a base', () => {
    expect(problems(complete)).toEqual([])
    expect(load({ ...minimalEnv, ...complete })).toMatchObject({ userProvider: 'ldap' })
    expect(problems({ SVC_USERS_PROVIDER: 'ldap' })).toEqual([
      expect.stringMatching(/^SVC_LDAP_URLS \(ldap\.urls\) is required when SVC_USERS_PROVIDER .* is ldap: /),
      expect.stringMatching(/^SVC_LDAP_BASE_DN \(ldap\.base_dn\) is required when /),
    ])
  })

  test('refuses settings that would have no effect, all at once', () => {
    const refusal = (name: string) =>
      `${name} is set, but SVC_USERS_PROVIDER (users.provider) is local; set the provider to ldap, or remove ${name}`
    const local = {
      ...complete,
      SVC_USERS_PROVIDER: 'local',
      SVC_LDAP_MAX_RESULTS: '7',
      SVC_LDAP_START_TLS: 'true',
    }
    expect(problems(local)).toEqual(
      [
        'SVC_LDAP_URLS (ldap.urls)',
        'SVC_LDAP_START_TLS (ldap.start_tls)',
        'SVC_LDAP_BASE_DN (ldap.base_dn)',
        'SVC_LDAP_MAX_RESULTS (ldap.max_results)',
      ].map(refusal),
    )
    // Values that are the default have the same meaning as none.
    expect(problems({ SVC_LDAP_MAX_RESULTS: '500', SVC_LDAP_START_TLS: 'false' })).toEqual([])
    expect(problems({ ...complete, SVC_LDAP_START_TLS: 'true', SVC_LDAP_ALLOW_UNENCRYPTED: 'true' })).toEqual(
      [
        'SVC_LDAP_START_TLS (ldap.start_tls) is set, but connections to ldaps:// are already encrypted; remove it',
        'SVC_LDAP_ALLOW_UNENCRYPTED (ldap.allow_unencrypted) is set, but connections to ldaps:// are encrypted; remove it',
      ],
    )
  })

  test('sends the password unencrypted only where this is accepted', () => {
    const plain = { ...complete, SVC_LDAP_URLS: 'ldap://a.example' }
    expect(problems(plain)).toEqual([
      expect.stringContaining('so the bind password would be sent unencrypted; use ldaps://'),
    ])
    expect(problems({ ...plain, SVC_LDAP_START_TLS: 'true', SVC_LDAP_CA_BUNDLE: '/ca.pem' })).toEqual([])
    expect(problems({ ...plain, SVC_LDAP_ALLOW_UNENCRYPTED: 'true' })).toEqual([])
    expect(problems({ ...plain, SVC_LDAP_ALLOW_UNENCRYPTED: 'true', SVC_LDAP_CA_BUNDLE: '/ca.pem' })).toEqual(
      ['SVC_LDAP_CA_BUNDLE (ldap.ca_bundle) is set, but the connections are not encrypted; remove it'],
    )
    expect(problems({ ...plain, SVC_LDAP_START_TLS: 'true', SVC_LDAP_ALLOW_UNENCRYPTED: 'true' })).toEqual([
      'SVC_LDAP_ALLOW_UNENCRYPTED (ldap.allow_unencrypted) is set, but StartTLS encrypts the connections; remove it',
    ])
    expect(problems({ ...complete, SVC_LDAP_URLS: 'ldap://a.example,ldaps://b.example' })).toEqual([
      'SVC_LDAP_URLS (ldap.urls) must not mix ldap:// and ldaps://',
    ])
  })

  test('needs the account and its password together', () => {
    const both =
      'set both SVC_LDAP_BIND_DN (ldap.bind_dn) and SVC_LDAP_BIND_PASSWORD (ldap.bind_password), or neither'
    expect(problems({ ...complete, SVC_LDAP_BIND_DN: 'cn=x' })).toEqual([both])
    expect(problems({ ...complete, SVC_LDAP_BIND_PASSWORD: 'x' })).toEqual([both])
    expect(problems({ ...complete, SVC_LDAP_BIND_DN: 'cn=x', SVC_LDAP_BIND_PASSWORD: 'x' })).toEqual([])
    expect(problems({ ...complete, SVC_LDAP_REQUEST_TIMEOUT: '1000ms' })).toEqual([
      expect.stringContaining('is longer than SVC_LDAP_REQUEST_TIMEOUT'),
    ])
  })

  test('accepts only URLs of LDAP servers', () => {
    for (const urls of ['ldap://a', 'ldaps://10.0.0.1:636/', 'ldap://[::1]:389', ['ldap://a', 'ldap://b']])
      expect([urls, isAccepted(ldapUrlList(urls))]).toEqual([urls, true])
    for (const urls of [
      '',
      'a.example',
      'http://a.example',
      'ldap://',
      'ldap://user:word@a.example',
      'ldap://a.example/dc=x',
      'ldap://a.example?x',
      'ldap://a.example,',
      'ldap://a b',
      7,
      [],
      Array.from({ length: 9 }, (_, n) => `ldap://h${n}`),
    ])
      expect([urls, isAccepted(ldapUrlList(urls))]).toEqual([urls, false])
  })
})

describe('a filter', () => {
  test('is accepted if it is complete', () => {
    for (const filter of [
      '(objectClass=person)',
      '(cn=*)',
      '(cn=a*b*c)',
      '(cn=\\28a\\29)',
      '(age>=7)',
      '(cn~=ann)',
      '(&(objectCategory=person)(!(userAccountControl:1.2.840.113556.1.4.803:=2)))',
      '(|(a=1)(b=2)(c=3))',
      '(ou:dn:=people)',
      '(cn=Zoë)',
    ])
      expect([filter, isAccepted(ldapFilter(filter))]).toEqual([filter, true])
  })

  test('is refused if the directory would not understand it, or understand something else', () => {
    for (const filter of [
      '',
      'objectClass=person',
      '(objectClass=person',
      '(objectClass=person))',
      '(objectClass=person)(a=b)',
      '()',
      '(&)',
      '(=x)',
      '(cn)',
      '(a b=c)',
      '(cn=a(b)',
      '(cn=\\zz)',
      '(cn=\\c3\\ab)',
      '(cn>=a*)',
      '(cn=\u0000)',
      '(cn={text})',
      '(&(a=b)',
      '(!(a=b)(c=d))',
      `${'(!'.repeat(30)}(a=b)${')'.repeat(30)}`,
      `(a=${'x'.repeat(3_000)})`,
      7,
    ])
      expect([filter, isAccepted(ldapFilter(filter))]).toEqual([filter, false])
  })

  test('of a search has its placeholders as values', () => {
    for (const filter of [
      '(anr={text})',
      '(cn={pattern})',
      '(cn=*{text}*)',
      '(|(cn={pattern})(telephoneNumber>={text}))',
    ])
      expect([filter, isAccepted(ldapFilterTemplate(filter))]).toEqual([filter, true])
    for (const filter of [
      '(cn=ann)',
      '({text}=a)',
      '({pattern})',
      '{text}',
      '(cn={Text}{text})',
      '(cn={text}{x})',
      '(cn>={pattern})',
      '(cn=a{pattern})',
      '(cn={pattern}b)',
      '(cn:dn:={pattern})',
      '(cn=\\5{text})',
      '(cn={text)',
    ])
      expect([filter, isAccepted(ldapFilterTemplate(filter))]).toEqual([filter, false])
  })
})
