// Decides which callback URLs may be registered. The decision resolves no names, so a name is accepted even if it does
// not exist yet. The egress rules check every address again when the URL is called. Hosts are checked in the form that
// the URL parser returns, so decimal, octal, percent-encoded and full-width spellings are treated alike.
import { toBareHost, classifyAddress } from './addresses.ts'
import type { AddressRules } from './egress.ts'

const maxLength = 2_048
const [maxName, maxLabel] = [253, 63]

/**
 * Names that hosts files give to the local machine. RFC 6761 reserves `*.localhost` for the local machine as
 * well.
 */
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
const loopbackAddresses = ['127.0.0.1', '::1']

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

const settingName = 'callbacks.allowed_cidrs (SVC_CALLBACKS_ALLOWED_CIDRS)'
const malformedProblem =
  'the URL must be an absolute http or https URL with a valid host, without a user name, password, spaces or backslashes'
const describeNeverAllowed = (reason: string): string => `the host is ${reason}, which is never allowed`
const describeAllowedBySetting = (reason: string, cidrs: string): string =>
  `the host is ${reason}, which is allowed only if ${settingName} contains ${cidrs}`

/** Returns the URL without its fragment, or null if it must not be registered. */
export function parseCallbackUrl(text: string, rules: AddressRules): URL | null {
  const result = validateCallbackUrl(text, rules)
  return 'url' in result ? result.url : null
}

/** Like `parseCallbackUrl`, but returns the violated rule and the setting that would allow the URL. */
export function validateCallbackUrl(text: string, rules: AddressRules): { url: URL } | { problem: string } {
  const tooLongResult = { problem: `the URL must have at most ${maxLength} characters` }
  if (text.length > maxLength) return tooLongResult
  const url = isUnambiguous(text) ? URL.parse(text) : null
  if (url === null) return { problem: malformedProblem }
  url.hash = ''
  // Percent-encoding makes non-ASCII characters longer.
  if (url.href.length > maxLength) return tooLongResult
  if (url.port === '0') return { problem: 'the port must not be 0' }
  const problem = findHostProblem(toBareHost(url.hostname), rules)
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

function findHostProblem(host: string, rules: AddressRules): string | null {
  if (classifyAddress(host) !== null) {
    const reason = rules.findAddressProblem(host)
    if (reason === null) return null
    return rules.canBeOpened(host)
      ? describeAllowedBySetting(reason, 'its network')
      : describeNeverAllowed(reason)
  }
  if (!isResolvableName(host)) return malformedProblem
  if (metadataHosts.some((metadataHost) => isInDomain(host, metadataHost)))
    return describeNeverAllowed('a metadata service')
  if (localhostNames.has(host) || isInDomain(host, 'localhost'))
    return loopbackAddresses.some((address) => rules.findAddressProblem(address) === null)
      ? null
      : describeAllowedBySetting('a loopback address', '127.0.0.0/8')
  const isInternal = !rules.hasOpenedNetworks && internalSuffixes.some((suffix) => isInDomain(host, suffix))
  return isInternal ? describeAllowedBySetting('an internal name', 'its network') : null
}

const isInDomain = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`)

/** Whether DNS can resolve the name. Empty labels are invalid: `localhost..` would bypass the suffix checks. */
const isResolvableName = (host: string): boolean =>
  host.length <= maxName && host.split('.').every((label) => label !== '' && label.length <= maxLabel)
