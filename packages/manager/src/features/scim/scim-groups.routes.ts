import type { FastifyReply } from 'fastify'
import type { ApiServer } from '../../platform/http/declarations.ts'
import {
  type ScimGroup,
  type GroupWithMembers,
  areMembersSelected,
  renderGroup,
} from './scim-group-resource.pure.ts'
import type { ScimGroupsSearchService } from './scim-groups-search.service.ts'
import * as schemas from './scim-groups.schemas.ts'
import type { ScimGroupsService } from './scim-groups.service.ts'
import {
  type Selected,
  change,
  config,
  getCaller,
  getTarget,
  path,
  readSelection,
  roleRows,
  send,
  sendNothing,
  sendVersion,
} from './scim-requests.routes.ts'
import { type Selection, formatLocation, formatVersion, renderList } from './scim-resource.pure.ts'

export type GroupRouteServices = {
  groups: ScimGroupsService
  groupSearch: ScimGroupsSearchService
  /** Public address of the routes, without a slash at the end. */
  baseUrl: string
}

// A body with all members of a group has about 80 bytes for each of them.
const bodyLimit = 4_194_304
const ignoredBodyLimit = 65_536

export function registerGroupReadRoutes(
  server: ApiServer,
  { groupSearch, baseUrl }: GroupRouteServices,
): void {
  server.get(`${path}/Groups`, { config, schema: schemas.listGroupsSchema }, async (request, reply) => {
    const { attributes, excludedAttributes, ...query } = request.query
    const selection = readSelection({ attributes, excludedAttributes })
    const { groups, total, startIndex } = await groupSearch.list(query, areMembersSelected(selection))
    const resources = groups.map((group) => renderGroup(group, baseUrl, selection))
    return send(reply, renderList(resources, startIndex, total))
  })
  server.get(`${path}/Groups/:id`, { config, schema: schemas.getGroupSchema }, async (request, reply) => {
    const selection = readSelection(request.query)
    const group = await groupSearch.get(request.params.id)
    return sendVersion(request, reply, group.revision, async () =>
      renderGroup(await groupSearch.getWithMembers(group, areMembersSelected(selection)), baseUrl, selection),
    )
  })
}

export function registerGroupChangeRoutes(
  server: ApiServer,
  { groups, groupSearch, baseUrl }: GroupRouteServices,
): void {
  const sendGroup = async (reply: FastifyReply, group: ScimGroup, selection: Selection) => {
    const found: GroupWithMembers = await groupSearch.getWithMembers(group, areMembersSelected(selection))
    return send(reply.header('etag', formatVersion(group.revision)), renderGroup(found, baseUrl, selection))
  }
  server.post(
    `${path}/Groups`,
    { bodyLimit, config: change('provisionedGroup create'), schema: schemas.createGroupSchema },
    async (request, reply) => {
      const selection = readSelection(request.query)
      const group = await groups.create(getCaller(request), request.body)
      void reply.code(201).header('location', formatLocation('Group', group.id, baseUrl))
      return sendGroup(reply, group, selection)
    },
  )
  const update = change('provisionedGroup update', ...roleRows)
  server.put(
    `${path}/Groups/:id`,
    { bodyLimit, config: update, schema: schemas.replaceGroupSchema },
    async (request, reply) => {
      const selection = readSelection(request.query)
      const group = await groups.replace(getCaller(request), getTarget(request), request.body)
      return sendGroup(reply, group, selection)
    },
  )
  server.patch(
    `${path}/Groups/:id`,
    { bodyLimit, config: update, schema: schemas.patchGroupSchema },
    async (request, reply) => {
      const selection = readPatchSelection(request.query)
      const group = await groups.patch(getCaller(request), getTarget(request), request.body)
      return sendGroup(reply, group, selection)
    },
  )
}

/** A client that adds one member to a large group does not need the others, so it has to request them. */
function readPatchSelection({ attributes = '', excludedAttributes = '' }: Selected): Selection {
  if (attributes !== '') return readSelection({ attributes })
  return readSelection({ excludedAttributes: `${excludedAttributes},members` })
}

export function registerGroupDeleteRoute(server: ApiServer, { groups }: GroupRouteServices): void {
  server.delete(
    `${path}/Groups/:id`,
    {
      bodyLimit: ignoredBodyLimit,
      config: change('provisionedGroup delete', 'groupRule delete', ...roleRows),
      schema: schemas.deleteGroupSchema,
    },
    async (request, reply) => {
      await groups.delete(getCaller(request), getTarget(request))
      return sendNothing(reply)
    },
  )
}
