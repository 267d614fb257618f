// These settings limit invitations, and configure the webhook that announces them.
import { type Reader, defineSetting, duration, integer, serviceUrl } from '../../config/readers.ts'

/** Reads a signing secret in the format of Standard Webhooks. Problem messages never repeat the secret. */
const webhookSecret: Reader<string> = (raw) =>
  typeof raw === 'string' && /^whsec_[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/.test(raw)
    ? { value: raw }
    : { problem: 'must be whsec_ and the base64 of 32 bytes (`echo "whsec_$(openssl rand -base64 32)"`)' }

export const invitationSettings = {
  invitationsDefaultDays: defineSetting(integer(1, 365), {
    key: 'invitations.default_days',
    env: 'SVC_INVITATIONS_DEFAULT_DAYS',
    default: 7,
    doc: 'Number of days until an invitation expires, unless the inviter chooses another number. Must not exceed `invitations.max_days`.',
  }),
  invitationsMaxDays: defineSetting(integer(1, 365), {
    key: 'invitations.max_days',
    env: 'SVC_INVITATIONS_MAX_DAYS',
    default: 30,
    doc: 'Maximum number of days until an invitation expires.',
  }),
  invitationsMaxOpen: defineSetting(integer(1, 100_000), {
    key: 'invitations.max_open_per_project',
    env: 'SVC_INVITATIONS_MAX_OPEN_PER_PROJECT',
    default: 500,
    doc: 'Maximum number of open invitations to a project and to its tenants and applications, in total; additional invitations are rejected. One person can have a fifth of them.',
  }),
  invitationsMaxPerHour: defineSetting(integer(1, 10_000), {
    key: 'invitations.max_per_hour',
    env: 'SVC_INVITATIONS_MAX_PER_HOUR',
    default: 100,
    doc: 'Maximum number of invitations that one person can create in an hour, including revoked ones; additional invitations are rejected.',
  }),
  invitationsRetentionDays: defineSetting(integer(1, 3_650), {
    key: 'invitations.retention_days',
    env: 'SVC_INVITATIONS_RETENTION_DAYS',
    default: 90,
    doc: 'Number of days for which accepted, revoked and expired invitations are kept. The audit trail keeps them longer.',
  }),
  invitationsWebhookUrl: defineSetting(serviceUrl, {
    key: 'invitations.webhook_url',
    env: 'SVC_INVITATIONS_WEBHOOK_URL',
    optional: true,
    doc: 'URL that receives a signed `invitation.created` message with the link of each new invitation, for example to send it by e-mail. Requires `invitations.webhook_secret`. Link-local, cloud metadata and multicast addresses are never called, and neither are the services that the Manager uses.',
  }),
  invitationsWebhookSecret: defineSetting(webhookSecret, {
    key: 'invitations.webhook_secret',
    env: 'SVC_INVITATIONS_WEBHOOK_SECRET',
    secret: true,
    optional: true,
    doc: 'Secret that signs the messages to `invitations.webhook_url` according to Standard Webhooks: `whsec_` and the base64 of 32 bytes.',
  }),
  invitationsWebhookTimeoutMs: defineSetting(duration(100, 10_000), {
    key: 'invitations.webhook_timeout',
    env: 'SVC_INVITATIONS_WEBHOOK_TIMEOUT',
    default: 5_000,
    doc: 'Maximum time for the webhook to respond, such as `5s`, including a second attempt. The inviter waits for the result.',
  }),
} as const
