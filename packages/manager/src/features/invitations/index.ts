// This feature manages invitations, which are links with which people join a project, a tenant or an application.
// memberships/ decides which roles a person may offer, and adds the members.
import { type Config, selectSettings } from '../../config/config.ts'
import { defineFeature } from '../../feature.ts'
import { readSdl } from '../../platform/graphql/schema.ts'
import type { NameResolver } from '../../platform/outbound/names.ts'
import { createWebhookPolicy } from '../../platform/outbound/egress-policies.ts'
import type { OwnService } from '../../platform/outbound/own-services.ts'
import { type OutboundPools, createOutboundPools } from '../../platform/outbound/pools.ts'
import { createIdFinder } from '../../policy/scopes.ts'
import { createAcceptanceService } from './acceptance.service.ts'
import { type WebhookDeps, createInvitationWebhook, noWebhook } from './invitation-webhook.service.ts'
import { createInvitationsResolvers } from './invitations.resolvers.ts'
import { type InvitationsDeps, createInvitationsService } from './invitations.service.ts'
import { invitationSettings } from './invitations.settings.ts'
import { type InvitingDeps, createInvitingService } from './inviting.service.ts'
import { createRetentionSchedule } from './retention.service.ts'

type Deps = InvitationsDeps &
  Omit<InvitingDeps, 'webhook' | 'publicUrl' | 'limits'> &
  Pick<WebhookDeps, 'log'> & {
    config: Config
    nameResolver: NameResolver
    ownServices: Iterable<OwnService>
  }

// Invitations are rare. The reserve of open files covers these connections.
const maxWebhookCalls = 4

export const invitations = defineFeature({
  name: 'invitations',
  sdl: readSdl(import.meta.url, './invitations.graphql'),
  settings: invitationSettings,
  scopes: {
    INVITATION: {
      noun: 'invitation',
      view: 'INVITATION_READ',
      find: createIdFinder('invitations', { tenant: 'tenant_id', application: 'application_id' }),
    },
  },
  constraints: {
    invitations_project_fkey: ['not_found', 'project not found'],
    invitations_tenant_fkey: ['not_found', 'tenant not found'],
    invitations_application_fkey: ['not_found', 'application not found'],
  },
  create: (deps: Deps) => {
    const settings = readSettings(deps.config)
    const pools = settings.webhook === null ? null : createPools(deps, settings.webhook.timeoutMs)
    const webhook =
      settings.webhook === null || pools === null
        ? noWebhook
        : createInvitationWebhook({ ...deps, ...settings.webhook, read: deps.db.read, pools })
    const publicUrl = deps.config.publicUrl.replace(/\/$/, '')
    return {
      resolvers: createInvitationsResolvers({
        service: createInvitationsService(deps),
        inviting: createInvitingService({ ...deps, webhook, publicUrl, limits: settings.limits }),
        acceptance: createAcceptanceService(deps),
      }),
      schedules: [createRetentionSchedule(deps.db, settings.retentionDays)],
      close: async () => pools?.close(),
      api: {},
    }
  },
})

/** Checks the rules between settings. */
function readSettings(config: Config) {
  const settings = selectSettings(config, invitationSettings)
  const { invitationsDefaultDays: defaultDays, invitationsMaxDays: maxDays } = settings
  if (defaultDays > maxDays)
    throw new Error('invitations.default_days must not be greater than invitations.max_days')
  const { invitationsWebhookUrl: url, invitationsWebhookSecret: secret } = settings
  if ((url === undefined) !== (secret === undefined))
    throw new Error(
      'set both invitations.webhook_url and invitations.webhook_secret, or neither of them: every message is signed',
    )
  const timeoutMs = settings.invitationsWebhookTimeoutMs
  return {
    limits: {
      defaultDays,
      maxDays,
      maxOpen: settings.invitationsMaxOpen,
      maxPerHour: settings.invitationsMaxPerHour,
    },
    retentionDays: settings.invitationsRetentionDays,
    webhook: url === undefined || secret === undefined ? null : { url, secret, timeoutMs },
  }
}

const createPools = (
  { nameResolver, ownServices }: Pick<Deps, 'nameResolver' | 'ownServices'>,
  timeoutMs: number,
): OutboundPools =>
  createOutboundPools({
    policy: createWebhookPolicy(),
    ownServices,
    nameResolver,
    maxPerOrigin: maxWebhookCalls,
    maxSockets: maxWebhookCalls,
    connectTimeoutMs: timeoutMs,
  })
