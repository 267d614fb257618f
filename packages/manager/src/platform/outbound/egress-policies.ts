// Egress policies: the networks that each kind of outbound call may reach.
import type { EgressPolicy } from './egress.ts'

/**
 * Policy for calls through the ESB. Maintainers configure the targets, and backends are internal. Private networks and
 * the local machine are therefore allowed unless the operator denies them.
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
 * Policy for callbacks. Any machine user can configure the targets, so only the public Internet and the networks that
 * the operator opens are allowed. Documentation addresses, which examples use, are allowed because no host has them.
 */
export const createCallbacksPolicy = (openedCidrs: readonly string[]): EgressPolicy => ({
  destinations: 'callback URLs',
  refusedClasses: ['loopback', 'private', 'reserved'],
  openedCidrs,
  onlyCidrs: [],
  deniedCidrs: [],
})

/**
 * Policy for webhooks. Only the operator configures the target, which is often a service in the same network, so private
 * networks and the local machine are allowed.
 */
export const createWebhookPolicy = (): EgressPolicy => ({
  destinations: 'webhooks',
  refusedClasses: [],
  openedCidrs: [],
  onlyCidrs: [],
  deniedCidrs: [],
})
