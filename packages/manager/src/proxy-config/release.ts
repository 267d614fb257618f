// Which proxies a rendered configuration is for. All parts of the product are of one release.
import { version } from '../version.ts'

export const release = version

/** The form of what is rendered. Another number is another form. */
export const format = 1

/**
 * The oldest proxy that understands what is rendered, a SemVer string. It is raised to the release in which the meaning of
 * something rendered changes; an older proxy then keeps what it has.
 */
export const minProxyVersion = '0.1.0'
