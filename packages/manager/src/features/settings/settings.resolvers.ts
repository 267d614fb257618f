import type { Resolvers } from '../../generated/graphql.ts'
import { answerBudget } from '../../platform/graphql/answer-budget.ts'
import { load, loadRow } from '../../platform/graphql/loaders.ts'
import type { ApplicationsApi } from '../applications/index.ts'
import type { SettingsReads, SettingsRow } from './settings-reads.service.ts'
import type { SettingsService } from './settings.service.ts'

/** GraphQL for settings. */
export function createSettingsResolvers(
  service: SettingsService,
  reads: SettingsReads,
  applications: ApplicationsApi,
) {
  return {
    Query: {
      settings: async (_parent, owners, context) => show(await reads.get(owners, answerBudget(context))),
      effectiveSettings: (_parent, place, context) => reads.getEffective(place, answerBudget(context)),
    },
    Tenant2Application: {
      settings: async (row, _args, context) => {
        const leaf = await load(context, 'Tenant2Application.settings', row.id, reads.findLeafRows)
        if (leaf === null) return null
        answerBudget(context)(leaf.bytes)
        return show(await loadRow(context, 'settings', leaf.id, reads.findMany))
      },
    },
    Mutation: {
      updateBackendModuleConfig: async (_parent, { id, input }, { actor }) =>
        show(await service.updateBackend(actor, id, input)).backendSetting,
      updateFrontendModuleConfig: async (_parent, { id, input }, { actor }) =>
        show(await service.updateFrontend(actor, id, input)).frontendSetting,
      deleteBackendSettings: (_parent, { id }, { actor }) => service.emptyBackend(actor, id),
      deleteFrontendSettings: (_parent, { id }, { actor }) => service.emptyFrontend(actor, id),
      ensureTenant2ApplicationSettings: async (_parent, { tenant2ApplicationId }, context) => {
        const leaf = await service.ensureLeaf(context.actor, tenant2ApplicationId)
        answerBudget(context)(JSON.stringify(leaf).length)
        return show(leaf)
      },
      copyTenant2ApplicationConfig: async (_parent, { input }, context) => {
        const { sourceTenant2ApplicationId: source, targetTenant2ApplicationId: target } = input
        await service.copyLeaf(context.actor, source, target)
        return loadRow(context, 'tenant2Application', target, applications.findTenant2Applications)
      },
    },
  } satisfies Resolvers
}

/**
 * A row as the schema shows it. One id names the row and both its parts, so that a caller cannot take the wrong one.
 */
const show = ({ id, backend, frontend }: SettingsRow) => ({
  id,
  backendSetting: { id, moduleConfig: backend },
  frontendSetting: { id, moduleConfig: frontend },
})
