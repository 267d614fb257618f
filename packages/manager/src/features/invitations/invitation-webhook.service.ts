// Announces new invitations to the webhook of the operator, which can send the link by e-mail. The link is only in the
// message: it is neither stored nor logged. A failed call does not matter for the invitation, because the inviter has
// the link.
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { Reads } from '../../platform/postgres/handles.ts'
import type { OutboundPools } from '../../platform/outbound/pools.ts'
import { SendFailure, send } from '../../platform/outbound/send.ts'
import { signWebhook } from '../../platform/outbound/webhook-signature.ts'
import { buildInvitationMessage } from './invitation-message.pure.ts'
import * as store from './invitations.store.ts'

export type Delivery = 'NONE' | 'DELIVERED' | 'FAILED'
export type InvitationWebhook = {
  /** Sends the link of a new invitation to the webhook. Never throws. */
  announce(invitation: store.Invitation, link: string): Promise<Delivery>
}
export type WebhookDeps = {
  read: Reads
  clock: Clock
  log: Logger
  pools: OutboundPools
  url: string
  secret: string
  /** Covers all attempts. */
  timeoutMs: number
}

// The body of the response is ignored.
const maxResponseBytes = 16_384

/** The result of one attempt. If `mayRepeat` is true, another attempt can succeed. */
type Attempt = { failure: string | null; mayRepeat: boolean }

/** The webhook of an installation that has not configured one. */
export const noWebhook: InvitationWebhook = { announce: () => Promise.resolve('NONE') }

export function createInvitationWebhook(deps: WebhookDeps): InvitationWebhook {
  const url = new URL(deps.url)
  /** Sends the message once. */
  const attempt = async (invitation: store.Invitation, body: Buffer, timeoutMs: number): Promise<Attempt> => {
    const timestampSeconds = Math.floor(deps.clock.now().getTime() / 1_000)
    const signature = signWebhook({ id: invitation.id, timestampSeconds, body, token: deps.secret })
    try {
      const { status } = await send({
        pool: deps.pools.getPool(invitation.projectId, url.origin),
        path: url.pathname + url.search,
        method: 'POST',
        headers: [
          'content-type',
          'application/json',
          'webhook-id',
          invitation.id,
          'webhook-timestamp',
          String(timestampSeconds),
          'webhook-signature',
          signature,
        ],
        body,
        timeoutMs,
        maxResponseBytes,
      })
      const isAccepted = status >= 200 && status < 300
      return { failure: isAccepted ? null : `the webhook returned ${status}`, mayRepeat: status >= 500 }
    } catch (error) {
      if (error instanceof SendFailure) return { failure: error.reason, mayRepeat: true }
      throw error
    }
  }

  const deliver = async (invitation: store.Invitation, link: string): Promise<string | null> => {
    const names = await store.findNames(deps.read, invitation.id)
    if (names === undefined) return 'the invitation was deleted'
    const body = buildInvitationMessage(invitation, names, link)
    const deadline = performance.now() + deps.timeoutMs
    const first = await attempt(invitation, body, deps.timeoutMs)
    const remainingMs = Math.floor(deadline - performance.now())
    if (first.failure === null || !first.mayRepeat || remainingMs <= 0) return first.failure
    return (await attempt(invitation, body, remainingMs)).failure
  }

  return {
    announce: async (invitation, link) => {
      try {
        const failure = await deliver(invitation, link)
        if (failure === null) return 'DELIVERED'
        deps.log.warn(
          { invitation: invitation.id, failure },
          'could not deliver an invitation to the webhook',
        )
      } catch (error) {
        deps.log.warn({ invitation: invitation.id, err: error }, 'could not call the invitation webhook')
      }
      return 'FAILED'
    },
  }
}
