// What may be registered to be called back. Pure: nothing is looked up, so a name that does not exist yet is accepted,
// and every address is judged again when it is called. Hosts are judged as the parser of URLs leaves them, which is how
// they are called: decimal, octal, percent-encoded and full-width spellings are all one.
import { bareHost, classifyAddress } from './addresses.ts'
import type { AddressRules } from './egress.ts'

const maxLength = 2_048
const [maxName, maxLabel] = [253, 63]

/** What systems call themselves in their hosts files; `*.localhost` is this machine by RFC 6761. */
const ofThisMachine = new Set([
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

/** What clouds call their metadata services; in most of them these names exist on every machine. */
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

/** Suffixes that the public name service does not have: they lead into the network that this machine is in. */
const innerSuffixes = ['local', 'internal']

const setting = 'callbacks.allowed_cidrs (SVC_CALLBACKS_ALLOWED_CIDRS)'
const malformed =
  'it must be an absolute http or https URL with a valid host, without user name, password, spaces and backslashes'
const neverCalled = (what: string): string => `its host is ${what}, which is never called`
const openedBy = (what: string, cidrs: string): string =>
  `its host is ${what}, which is called only if ${setting} contains ${cidrs}`

/** The URL without its fragment, or null when it must not be registered. */
export function parseCallbackUrl(text: string, rules: AddressRules): URL | null {
  const judged = judgeCallbackUrl(text, rules)
  return 'url' in judged ? judged.url : null
}

/** The same, with the rule that refuses the URL, and the setting that would allow it, as a text about "it". */
export function judgeCallbackUrl(text: string, rules: AddressRules): { url: URL } | { problem: string } {
  const tooLong = { problem: `it must have at most ${maxLength} characters` }
  if (text.length > maxLength) return tooLong
  const url = isPlain(text) ? URL.parse(text) : null
  if (url === null) return { problem: malformed }
  url.hash = ''
  // Other characters than ASCII become longer.
  if (url.href.length > maxLength) return tooLong
  if (url.port === '0') return { problem: 'its port must not be 0' }
  const problem = problemOfHost(bareHost(url.hostname), rules)
  return problem === null ? { url } : { problem }
}

/**
 * Whether it is written as others would read it too: the parser also takes `http:host`, drops tabs and line ends, turns
 * backslashes, and forgets an empty user name.
 */
function isPlain(text: string): boolean {
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1]
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  return authority !== undefined && !authority.includes('@') && !/[\u0000-\u0020\u007f\\]/.test(text)
}

function problemOfHost(host: string, rules: AddressRules): string | null {
  if (classifyAddress(host) !== null) {
    const what = rules.problemOfAddress(host)
    if (what === null) return null
    return rules.isOpenable(host) ? openedBy(what, 'its network') : neverCalled(what)
  }
  if (!isName(host)) return malformed
  if (metadataHosts.some((known) => isBelow(host, known))) return neverCalled('a metadata service')
  if (ofThisMachine.has(host) || isBelow(host, 'localhost'))
    return loopback.some((address) => rules.problemOfAddress(address) === null)
      ? null
      : openedBy('a loopback address', '127.0.0.0/8')
  const isInner = !rules.hasOpened && innerSuffixes.some((suffix) => isBelow(host, suffix))
  return isInner ? openedBy('a name of an internal network', 'that network') : null
}

const isBelow = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`)

/** Whether a name server can be asked for it. An empty part hides its end: `localhost..` is another text. */
const isName = (host: string): boolean =>
  host.length <= maxName && host.split('.').every((label) => label !== '' && label.length <= maxLabel)
