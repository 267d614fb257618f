import type { Resolvers } from '../../generated/graphql.ts'
import { responseBudget } from '../../platform/graphql/response-budget.ts'
import { load, loadRow } from '../../platform/graphql/loaders.ts'
import type { ApplicationsApi } from '../applications/index.ts'
import type { SettingsReads, SettingsRow } from './settings-reads.service.ts'
import type { SettingsService } from './settings.service.ts'

/** Creates the GraphQL resolvers for settings. Contents are charged to the response budget before they are read. */
export function createSettingsResolvers(
  service: SettingsService,
  reads: SettingsReads,
  applications: ApplicationsApi,
) {
  return {
    Query: {
      settings: async (_parent, owners, context) => show(await reads.get(owners, responseBudget(context))),
      effectiveSettings: (_parent, place, context) => reads.getEffective(place, responseBudget(context)),
    },
    Tenant2Application: {
      settings: async (row, _args, context) => {
        const leaf = await load(context, 'Tenant2Application.settings', row.id, reads.findLeafRows)
        if (leaf === null) return null
        responseBudget(context)(leaf.bytes)
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
        responseBudget(context)(JSON.stringify(leaf).length)
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

/** Maps a row to the schema. The row and both its parts have the same id, so that a caller cannot use the wrong one. */
const show = ({ id, backend, frontend }: SettingsRow) => ({
  id,
  backendSetting: { id, moduleConfig: backend },
  frontendSetting: { id, moduleConfig: frontend },
})
