// Why a directory request failed, for operators. Reasons never contain text from the directory, which is untrusted.

/** A failed request to one server. */
export class LdapFailure extends Error {
  override readonly name = 'LdapFailure'
  /** False if another server would fail in the same way, for example because the bind password is wrong. */
  readonly isServerFault: boolean
  constructor(reason: string, { isServerFault = true } = {}) {
    super(reason)
    this.isServerFault = isServerFault
  }
}

const resultNames: Record<number, string> = {
  1: 'operationsError',
  2: 'protocolError',
  3: 'timeLimitExceeded',
  7: 'authMethodNotSupported',
  8: 'strongerAuthRequired',
  10: 'referral',
  11: 'adminLimitExceeded',
  13: 'confidentialityRequired',
  32: 'noSuchObject, check ldap.base_dn',
  34: 'invalidDNSyntax, check ldap.base_dn and ldap.bind_dn',
  48: 'inappropriateAuthentication',
  49: 'invalidCredentials, check ldap.bind_dn and ldap.bind_password',
  50: 'insufficientAccessRights',
  51: 'busy',
  52: 'unavailable',
  53: 'unwillingToPerform',
  80: 'other',
}
/** Results that only mean that this server cannot answer now. */
const serverFaults = new Set([51, 52, 80])

/** Returns the failure for an LDAP result other than success. */
export const createResultFailure = (what: string, code: number): LdapFailure =>
  new LdapFailure(`${what} returned LDAP result ${code} (${resultNames[code] ?? 'unknown'})`, {
    isServerFault: serverFaults.has(code),
  })

/** Returns the failure for any error of the network, of TLS or of the client library. */
export function describeFailure(what: string, error: unknown): LdapFailure {
  if (error instanceof LdapFailure) return error
  const { code } = error as { code?: unknown }
  if (typeof code === 'number') return createResultFailure(what, code)
  const isCode = typeof code === 'string' && /^[A-Z0-9_]{1,60}$/.test(code)
  return new LdapFailure(isCode ? `${what} failed (${code})` : `${what} failed`)
}
