// Decides which callback URLs may be registered. Pure: it resolves no names, so it accepts a name that does not exist
// yet. The egress rules check every address again when the URL is called. Hosts are checked in the form that the URL
// parser returns, so decimal, octal, percent-encoded and full-width spellings are treated alike.
import { bareHost, classifyAddress } from './addresses.ts'
import type { AddressRules } from './egress.ts'

const maxLength = 2_048
const [maxName, maxLabel] = [253, 63]

/** Names that hosts files give to the local machine. RFC 6761 reserves `*.localhost` for it as well. */
const localhostNames = new Set([
  'localhost',
  'localhost.localdomain',
  'localhost4',
  'localhost4.localdomain4',
  'localhost6',
  'localhost6.localdomain6',
  'ip6-localhost',
  'ip6-loopback',
])
const loopback = ['127.0.0.1', '::1']

/** Names of cloud metadata services. In most clouds these names resolve on every machine. */
const metadataHosts = [
  'metadata',
  'metadata.goog',
  'metadata.google.internal', // Google
  'instance-data',
  'instance-data.ec2.internal', // Amazon
  'metadata.azure.com',
  'metadata.azure.internal', // Azure
  'metadata.tencentyun.com', // Tencent
  'metadata.oraclecloud.com', // Oracle
  'api.metadata.cloud.ibm.com', // IBM
  'metadata.platformequinix.com',
  'metadata.packet.net', // Equinix
  'rancher-metadata',
]

/** Suffixes that do not exist in public DNS: they resolve only inside the local network. */
const internalSuffixes = ['local', 'internal']

const setting = 'callbacks.allowed_cidrs (SVC_CALLBACKS_ALLOWED_CIDRS)'
const malformed =
  'it must be an absolute http or https URL with a valid host, without a user name, password, spaces or backslashes'
const neverAllowed = (what: string): string => `its host is ${what}, which is never allowed`
const allowedBySetting = (what: string, cidrs: string): string =>
  `its host is ${what}, which is allowed only if ${setting} contains ${cidrs}`

/** Returns the URL without its fragment, or null if it must not be registered. */
export function parseCallbackUrl(text: string, rules: AddressRules): URL | null {
  const validated = validateCallbackUrl(text, rules)
  return 'url' in validated ? validated.url : null
}

/**
 * Like `parseCallbackUrl`, but returns the violated rule and the setting that would allow the URL. The problem text
 * refers to the URL as "it".
 */
export function validateCallbackUrl(text: string, rules: AddressRules): { url: URL } | { problem: string } {
  const tooLong = { problem: `it must have at most ${maxLength} characters` }
  if (text.length > maxLength) return tooLong
  const url = isUnambiguous(text) ? URL.parse(text) : null
  if (url === null) return { problem: malformed }
  url.hash = ''
  // Percent-encoding makes non-ASCII characters longer.
  if (url.href.length > maxLength) return tooLong
  if (url.port === '0') return { problem: 'its port must not be 0' }
  const problem = problemOfHost(bareHost(url.hostname), rules)
  return problem === null ? { url } : { problem }
}

/**
 * Whether every parser reads the URL the same way. The URL parser of Node also accepts `http:host`, removes tabs and
 * line breaks, converts backslashes to slashes, and drops an empty user name.
 */
function isUnambiguous(text: string): boolean {
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1]
  // oxlint-disable-next-line no-control-regex -- control characters must be rejected
  return authority !== undefined && !authority.includes('@') && !/[\u0000-\u0020\u007f\\]/.test(text)
}

function problemOfHost(host: string, rules: AddressRules): string | null {
  if (classifyAddress(host) !== null) {
    const what = rules.problemOfAddress(host)
    if (what === null) return null
    return rules.canBeOpened(host) ? allowedBySetting(what, 'its network') : neverAllowed(what)
  }
  if (!isName(host)) return malformed
  if (metadataHosts.some((known) => isBelow(host, known))) return neverAllowed('a metadata service')
  if (localhostNames.has(host) || isBelow(host, 'localhost'))
    return loopback.some((address) => rules.problemOfAddress(address) === null)
      ? null
      : allowedBySetting('a loopback address', '127.0.0.0/8')
  const isInternal = !rules.hasOpenedNetworks && internalSuffixes.some((suffix) => isBelow(host, suffix))
  return isInternal ? allowedBySetting('an internal name', 'its network') : null
}

const isBelow = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`)

/** Whether DNS can resolve the name. Empty labels are invalid: `localhost..` would bypass the suffix checks. */
const isName = (host: string): boolean =>
  host.length <= maxName && host.split('.').every((label) => label !== '' && label.length <= maxLabel)
