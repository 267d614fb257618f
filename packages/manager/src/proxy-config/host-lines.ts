// The rendered configuration describes each host in one line of text, which the patterns match.
import type { VirtualHost } from './virtual-hosts.ts'

export type RenderedStart = {
  format: number
  release: string
  minProxyVersion: string
  managementHost: string | null
}

/** Returns the header lines of a rendered file; deploy/proxy/apply checks them. */
export const createStartLines = ({ format, release, minProxyVersion }: RenderedStart): string[] => [
  '# Rendered by `manager proxy-config`; do not edit.',
  `# format: ${format}`,
  `# release: ${release}`,
  `# min_proxy_version: ${minProxyVersion}`,
  '# Host: kind, application, tenant, backend.',
]

export const managementLine = 'management - - -'

/** Returns the kind, application, tenant and backend of a host; a hyphen stands for a missing value. */
export const formatHostLine = ({ application, tenant, backend = '-' }: VirtualHost): string =>
  `application ${application.id} ${tenant?.id ?? '-'} ${backend}`
