import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound } from '../../platform/errors.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { ignoreBodies } from '../../platform/http/ignore-bodies.ts'
import { acceptScimBodies } from './scim-bodies.routes.ts'
import {
  createServiceProviderConfig,
  findResourceType,
  findSchema,
  listResourceTypes,
  listSchemas,
} from './scim-discovery.pure.ts'
import {
  type GroupRouteServices,
  registerGroupChangeRoutes,
  registerGroupDeleteRoute,
  registerGroupReadRoutes,
} from './scim-groups.routes.ts'
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
import {
  type ScimResource,
  formatLocation,
  formatVersion,
  renderList,
  renderUser,
} from './scim-resource.pure.ts'
import type { ScimSearchService } from './scim-search.service.ts'
import type { ScimUsersService } from './scim-users.service.ts'
import * as schemas from './scim.schemas.ts'

export type ScimServices = GroupRouteServices & {
  users: ScimUsersService
  search: ScimSearchService
  /** Public address of the routes, without a slash at the end. */
  baseUrl: string
}

const bodyLimit = 65_536

/** Registers the routes of SCIM 2.0 for users and groups, and its discovery routes. */
export function registerScimRoutes(server: ApiServer, services: ScimServices): void {
  registerDiscoveryRoutes(server, services.baseUrl)
  registerReadRoutes(server, services)
  registerGroupReadRoutes(server, services)
  void server.register((scoped, _options, done) => {
    acceptScimBodies(scoped)
    const typed = scoped.withTypeProvider<TypeBoxTypeProvider>()
    registerChangeRoutes(typed, services)
    registerGroupChangeRoutes(typed, services)
    done()
  })
  void server.register((scoped, _options, done) => {
    ignoreBodies(scoped)
    const typed = scoped.withTypeProvider<TypeBoxTypeProvider>()
    registerDeleteRoute(typed, services)
    registerGroupDeleteRoute(typed, services)
    done()
  })
}

/** Registers the discovery routes. Some clients read the schema of the user before they send one. */
function registerDiscoveryRoutes(server: ApiServer, baseUrl: string): void {
  server.get(`${path}/ServiceProviderConfig`, { config, schema: schemas.configSchema }, (_request, reply) =>
    send(reply, createServiceProviderConfig(baseUrl)),
  )
  server.get(`${path}/ResourceTypes`, { config, schema: schemas.resourceTypesSchema }, (_request, reply) =>
    send(reply, listResourceTypes(baseUrl)),
  )
  server.get(`${path}/ResourceTypes/:id`, { config, schema: schemas.resourceTypeSchema }, (request, reply) =>
    send(reply, findResourceType(request.params.id, baseUrl) ?? throwNotFound('resource type')),
  )
  server.get(`${path}/Schemas`, { config, schema: schemas.schemasSchema }, (_request, reply) =>
    send(reply, listSchemas(baseUrl)),
  )
  server.get(`${path}/Schemas/:id`, { config, schema: schemas.schemaSchema }, (request, reply) =>
    send(reply, findSchema(request.params.id, baseUrl) ?? throwNotFound('schema')),
  )
}

function registerReadRoutes(server: ApiServer, { search, baseUrl }: ScimServices): void {
  server.get(`${path}/Users`, { config, schema: schemas.listUsersSchema }, async (request, reply) => {
    const { attributes, excludedAttributes, ...query } = request.query
    const selection = readSelection({ attributes, excludedAttributes })
    const { rows, total, startIndex } = await search.list(query)
    const resources = rows.map((user) => renderUser(user, baseUrl, selection))
    return send(reply, renderList(resources, startIndex, total))
  })
  server.get(`${path}/Users/:id`, { config, schema: schemas.getUserSchema }, async (request, reply) => {
    const selection = readSelection(request.query)
    const user = await search.get(request.params.id)
    return sendVersion(request, reply, user.revision, () => renderUser(user, baseUrl, selection))
  })
}

function registerChangeRoutes(server: ApiServer, { users, baseUrl }: ScimServices): void {
  const sendUser = (request: FastifyRequest, reply: FastifyReply, user: ScimResource): FastifyReply =>
    send(
      reply.header('etag', formatVersion(user.revision)),
      renderUser(user, baseUrl, readSelection(request.query as Selected)),
    )
  server.post(
    `${path}/Users`,
    { bodyLimit, config: change('provisionedUser create'), schema: schemas.createUserSchema },
    async (request, reply) => {
      readSelection(request.query)
      const user = await users.create(getCaller(request), request.body)
      void reply.code(201).header('location', formatLocation('User', user.id, baseUrl))
      return sendUser(request, reply, user)
    },
  )
  server.put(
    `${path}/Users/:id`,
    {
      bodyLimit,
      config: change('provisionedUser update', 'user deactivate'),
      schema: schemas.replaceUserSchema,
    },
    async (request, reply) => {
      readSelection(request.query)
      const user = await users.replace(getCaller(request), getTarget(request), request.body)
      return sendUser(request, reply, user)
    },
  )
  server.patch(
    `${path}/Users/:id`,
    {
      bodyLimit,
      config: change('provisionedUser update', 'user deactivate'),
      schema: schemas.patchUserSchema,
    },
    async (request, reply) => {
      readSelection(request.query)
      const user = await users.patch(getCaller(request), getTarget(request), request.body)
      return sendUser(request, reply, user)
    },
  )
}

function registerDeleteRoute(server: ApiServer, { users }: ScimServices): void {
  server.delete(
    `${path}/Users/:id`,
    {
      bodyLimit,
      config: change('provisionedUser delete', 'user deactivate', 'provisionedGroup update', ...roleRows),
      schema: schemas.deleteUserSchema,
    },
    async (request, reply) => {
      await users.delete(getCaller(request), getTarget(request))
      return sendNothing(reply)
    },
  )
}

function throwNotFound(noun: string): never {
  throw notFound(noun)
}
