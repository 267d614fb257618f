// What a proxy's own configuration says about a host, in one line of text that its patterns read.
import type { VirtualHost } from './virtual-hosts.ts'

export type RenderedStart = {
  format: number
  release: string
  minProxyVersion: string
  managementHost: string | null
}

/** The first lines of a rendered file, for whoever applies it. */
export const startLines = ({ format, release, minProxyVersion }: RenderedStart): string[] => [
  '# Rendered by `manager proxy-config`; do not edit.',
  `# format: ${format}`,
  `# release: ${release}`,
  `# min_proxy_version: ${minProxyVersion}`,
  '# Host: what it is for, its application, its tenant, its backend.',
]

export const managementLine = 'management - - -'

/** What a host is for, its application, its tenant and its backend; a hyphen where there is none. */
export const hostLine = ({ application, tenant, backend = '-' }: VirtualHost): string =>
  `application ${application.id} ${tenant?.id ?? '-'} ${backend}`
