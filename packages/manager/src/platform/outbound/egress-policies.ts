// What each purpose of outbound calls may reach.
import type { EgressPolicy } from './egress.ts'

/**
 * Calls through the ESB: maintainers write their targets, and backends are internal, so private networks and this
 * machine are allowed unless the operator says otherwise.
 */
export const gatewayPolicy = (settings: {
  esbAllowedCidrs: readonly string[]
  esbDeniedCidrs: readonly string[]
}): EgressPolicy => ({
  destinations: 'endpoints',
  refusedClasses: [],
  openedCidrs: [],
  onlyCidrs: settings.esbAllowedCidrs,
  deniedCidrs: settings.esbDeniedCidrs,
})

/**
 * Callbacks: any machine user writes their targets, so they leave for the public Internet alone, and for the networks
 * that the operator opens. Nothing is at the addresses for documentation, which examples use.
 */
export const callbacksPolicy = (openedCidrs: readonly string[]): EgressPolicy => ({
  destinations: 'callback URLs',
  refusedClasses: ['loopback', 'private', 'reserved'],
  openedCidrs,
  onlyCidrs: [],
  deniedCidrs: [],
})
