// Versions in a rendered configuration, which determine which proxies accept it. The Manager and the proxy share one
// release version.
import { version } from '../version.ts'

export const release = version

/** Version of the rendered format; proxies reject a format that they do not know. */
export const format = 1

/**
 * The oldest proxy version that understands the rendered configuration, as SemVer. If a release changes the meaning of
 * rendered content, set it to that release; older proxies then keep their current configuration.
 */
export const minProxyVersion = '0.1.0'
