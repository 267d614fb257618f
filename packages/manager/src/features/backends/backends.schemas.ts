// These schemas describe the routes for registrations, heartbeats and the tenants of an application.
import { Type } from 'typebox'
import {
  createErrorResponses,
  createPathIdSchema,
  createUuidSchema,
} from '../../platform/http/http.schemas.ts'

const tags = ['machines' as const]
const success = Type.Literal(true)
const message = Type.String({ description: 'Description of the change.' })
const ownParams = Type.Object({ id: createPathIdSchema('The registration') })

const registrationResponse = Type.Object(
  {
    success,
    registered_id: createUuidSchema('Id of the registration, which identifies it in heartbeats.'),
    token: Type.String({
      description: 'Callbacks send this token as `Authorization: Bearer`. It is shown only once.',
    }),
    signing_secret: Type.String({
      description:
        'Secret that verifies the `webhook-signature` of callbacks (Standard Webhooks). It is shown only once.',
    }),
    message,
    environment_id: createUuidSchema('The environment of the machine user.'),
    application_id: createUuidSchema('The application.'),
  },
  { $id: 'RegisteredBackend' },
)

export const registerSchema = {
  operationId: 'registerBackend',
  summary: 'Registers the caller as a backend of an application, for trigger callbacks',
  description:
    'Each pair of application and machine user has one registration. Registering again updates it and replaces its token and signing secret.',
  tags,
  body: Type.Object({
    application_id: createUuidSchema("An application in the project of the machine user's environment."),
    callback_url: Type.String({
      title: 'an absolute http or https URL',
      description:
        'URL without user name or password, at most 2,048 characters. The host must have a public address or belong to an allowed network (`callbacks.allowed_cidrs`).',
    }),
    version: Type.Optional(
      Type.Union([Type.String({ maxLength: 100 }), Type.Null()], {
        description: 'Version of the backend, for display.',
      }),
    ),
  }),
  response: {
    200: registrationResponse,
    201: registrationResponse,
    ...createErrorResponses('envelope', 401, 404),
  },
}

export const heartbeatSchema = {
  operationId: 'sendHeartbeat',
  summary: 'Records a heartbeat of a registered backend',
  description: 'Send a heartbeat every 30 s. If the route returns 404, register again.',
  tags,
  params: ownParams,
  response: {
    200: Type.Object({ success, registered_id: createUuidSchema('The registration.'), message }),
    ...createErrorResponses('envelope', 403, 404, 413),
  },
}

export const unregisterSchema = {
  operationId: 'unregisterBackend',
  summary: 'Removes a registration and stops its callbacks',
  tags,
  params: ownParams,
  response: { 200: Type.Object({ success, message }), ...createErrorResponses('envelope', 403, 404, 413) },
}

export const applicationTenantsSchema = {
  operationId: 'listTenantsOfApplication',
  summary: 'Returns the tenants for which an application is enabled',
  description:
    'The response is a stream of all tenants, ordered by id. If the connection closes before the JSON is complete, the request failed.',
  tags,
  params: Type.Object({ id: createPathIdSchema('The application') }),
  response: {
    200: Type.Object({
      success,
      tenants: Type.Array(Type.Object({ id: createUuidSchema('The tenant.'), name: Type.String() })),
    }),
    ...createErrorResponses('envelope', 404),
  },
}
