import type { Resolvers } from '../../generated/graphql.ts'
import { load } from '../../platform/graphql/loaders.ts'
import type { AccessReason } from './access-rows.pure.ts'
import type { EffectiveAccessService } from './effective-access.service.ts'

export function createEffectiveAccessResolvers(service: EffectiveAccessService) {
  /** Reads the grant of a role from the audit trail, in one statement for all roles of the response. */
  const loadGrant = async (context: object, { grant }: AccessReason) =>
    grant === null
      ? null
      : load(context, 'AccessReason.grant', JSON.stringify(grant), (keys) =>
          service.findGrants(keys.map((key) => JSON.parse(key) as NonNullable<AccessReason['grant']>)),
        )
  return {
    Query: {
      effectiveAccess: (_parent, args, { actor }) => service.listOfPerson(actor, args),
      whoCanReach: (_parent, args, { actor }) => service.listOfObject(actor, args),
    },
    AccessReason: {
      grantedAt: async (reason, _args, context) =>
        reason.grantedAt ?? (await loadGrant(context, reason))?.grantedAt ?? null,
      grantedBy: async (reason, _args, context) => (await loadGrant(context, reason))?.grantedBy ?? null,
    },
  } satisfies Resolvers
}
