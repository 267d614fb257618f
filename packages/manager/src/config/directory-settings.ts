// Settings of the LDAP directory. No feature owns the directory: world.ts creates it.
import { attributeName, filePath, ldapFilter, ldapFilterTemplate, ldapUrlList } from './ldap-readers.ts'
import { boolean, defineSetting, duration, integer, text } from './readers.ts'

export const directorySettings = {
  ldapUrls: defineSetting(ldapUrlList, {
    key: 'ldap.urls',
    env: 'SVC_LDAP_URLS',
    optional: true,
    doc: 'LDAP servers of the same directory, in the order in which they are used, such as `ldaps://ldap-1.example,ldaps://ldap-2.example`. A server that failed is used last for 10 s. Required with `users.provider` `ldap`.',
  }),
  ldapStartTls: defineSetting(boolean, {
    key: 'ldap.start_tls',
    env: 'SVC_LDAP_START_TLS',
    default: false,
    doc: 'Whether connections to `ldap://` servers are encrypted with StartTLS.',
  }),
  ldapAllowUnencrypted: defineSetting(boolean, {
    key: 'ldap.allow_unencrypted',
    env: 'SVC_LDAP_ALLOW_UNENCRYPTED',
    default: false,
    doc: 'Whether `ldap://` servers may be used without StartTLS. The bind password and all entries are then sent unencrypted.',
  }),
  ldapCaBundle: defineSetting(filePath, {
    key: 'ldap.ca_bundle',
    env: 'SVC_LDAP_CA_BUNDLE',
    optional: true,
    doc: 'File with the CA certificates (PEM) that sign the certificates of the servers. It is read at every connection. Without it, the public CAs apply.',
  }),
  ldapBindDn: defineSetting(text(1_000), {
    key: 'ldap.bind_dn',
    env: 'SVC_LDAP_BIND_DN',
    optional: true,
    doc: 'Account that searches the directory, such as `cn=manager,ou=services,dc=example`, or for Active Directory also `manager@corp.example`. Without it, the Manager searches anonymously.',
  }),
  ldapBindPassword: defineSetting(text(1_000), {
    key: 'ldap.bind_password',
    env: 'SVC_LDAP_BIND_PASSWORD',
    secret: true,
    optional: true,
    doc: 'Password of the account in `ldap.bind_dn`.',
  }),
  ldapBaseDn: defineSetting(text(1_000), {
    key: 'ldap.base_dn',
    env: 'SVC_LDAP_BASE_DN',
    optional: true,
    doc: 'Entry below which the Manager searches for people, such as `ou=people,dc=example`. Required with `users.provider` `ldap`.',
  }),
  ldapUserFilter: defineSetting(ldapFilter, {
    key: 'ldap.user_filter',
    env: 'SVC_LDAP_USER_FILTER',
    default: '(objectClass=person)',
    doc: 'Filter that matches every person who may use the Manager. For Active Directory: `(&(objectCategory=person)(objectClass=user))`.',
  }),
  ldapSearchFilter: defineSetting(ldapFilterTemplate, {
    key: 'ldap.search_filter',
    env: 'SVC_LDAP_SEARCH_FILTER',
    optional: true,
    doc: 'Filter for a search text, in addition to `ldap.user_filter`. `{pattern}` is the escaped text with wildcards; texts shorter than three characters must match the start. `{text}` is the escaped text without wildcards. Without this setting, the text must match the name, the user name or the e-mail address. For Active Directory: `(anr={text})`.',
  }),
  ldapIdAttribute: defineSetting(attributeName, {
    key: 'ldap.id_attribute',
    env: 'SVC_LDAP_ID_ATTRIBUTE',
    default: 'entryUUID',
    doc: 'Attribute with the UUID that the proxy sends as the subject of the user. `objectGUID` is read in the binary form of Active Directory. Entries without a UUID are left out.',
  }),
  ldapUsernameAttribute: defineSetting(attributeName, {
    key: 'ldap.username_attribute',
    env: 'SVC_LDAP_USERNAME_ATTRIBUTE',
    default: 'uid',
    doc: 'Attribute with the user name. For Active Directory: `sAMAccountName` or `userPrincipalName`.',
  }),
  ldapEmailAttribute: defineSetting(attributeName, {
    key: 'ldap.email_attribute',
    env: 'SVC_LDAP_EMAIL_ATTRIBUTE',
    default: 'mail',
    doc: 'Attribute with the e-mail address.',
  }),
  ldapNameAttribute: defineSetting(attributeName, {
    key: 'ldap.name_attribute',
    env: 'SVC_LDAP_NAME_ATTRIBUTE',
    default: 'cn',
    doc: 'Attribute with the display name. For Active Directory: `displayName`.',
  }),
  ldapDisabledAttribute: defineSetting(attributeName, {
    key: 'ldap.disabled_attribute',
    env: 'SVC_LDAP_DISABLED_ATTRIBUTE',
    optional: true,
    doc: 'Attribute that is `TRUE` for disabled accounts. For `userAccountControl`, bit 2 applies, as in Active Directory. Without this setting, every account counts as enabled.',
  }),
  ldapMaxResults: defineSetting(integer(1, 1_000), {
    key: 'ldap.max_results',
    env: 'SVC_LDAP_MAX_RESULTS',
    default: 500,
    doc: 'Maximum number of entries that the Manager reads for one search. Filters, order and pages of `userProviderSearch` apply to these entries.',
  }),
  ldapMaxConcurrent: defineSetting(integer(1, 64), {
    key: 'ldap.max_concurrent',
    env: 'SVC_LDAP_MAX_CONCURRENT',
    default: 8,
    doc: 'Maximum number of concurrent directory requests of a process, each on its own connection. Eight times as many can wait, and users share the slots fairly. Further requests return 503.',
  }),
  ldapConnectTimeoutMs: defineSetting(duration(50, 60_000), {
    key: 'ldap.connect_timeout',
    env: 'SVC_LDAP_CONNECT_TIMEOUT',
    default: 2_000,
    doc: 'Maximum time to connect to one server, such as `2s`, including the lookup of its name, TLS and the authentication of the Manager. After this time, the Manager tries the next server.',
  }),
  ldapRequestTimeoutMs: defineSetting(duration(100, 60_000), {
    key: 'ldap.request_timeout',
    env: 'SVC_LDAP_REQUEST_TIMEOUT',
    default: 5_000,
    doc: 'Maximum time of a directory request, such as `5s`, including the wait for a slot and all servers that are tried.',
  }),
} as const
