// These schemas describe the deployment requests of the proxy, and the responses.
import { Type } from 'typebox'
import { createErrorResponses } from '../../platform/http/http.schemas.ts'

const keyFields = {
  app_id: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'The application, a UUID. A malformed id is treated like an unknown id.',
    }),
  ),
  env: Type.Optional(Type.String({ maxLength: 100, description: '`dev`, `qas` or `run`.' })),
}
const querystring = Type.Object(keyFields)
const description =
  'Send `app_id` and `env` in the query or in a JSON body. Every application has a deployment in each of the three environments.'

const keyBody = Type.Union([Type.Object(keyFields), Type.Null()])

export const wakeSchema = {
  operationId: 'wakeDeployment',
  summary: 'Raises the replicas of a deployment to at least one',
  description: `${description} The number of replicas is never lowered, and the request can be repeated. The route returns 409 if the deployment does not have the flag \`scaleToZero\`, and 502 if the orchestrator fails.`,
  tags: ['proxy' as const],
  querystring,
  body: keyBody,
  response: {
    202: Type.Object({
      success: Type.Literal(true),
      min_replicas: Type.Integer({ description: 'New minimum number of replicas.' }),
      already_awake: Type.Boolean({ description: 'True if the number of replicas was already sufficient.' }),
    }),
    ...createErrorResponses('error', 404, 409, 502),
  },
}

export const readySchema = {
  operationId: 'isDeploymentReady',
  summary: 'Reports whether a deployment has live backends',
  description,
  tags: ['proxy' as const],
  querystring,
  response: {
    200: Type.Object({
      ready: Type.Boolean(),
      backends: Type.Integer({
        description: 'Number of backends with a recent heartbeat, counted up to 1,000.',
      }),
      retry_after_ms: Type.Optional(
        Type.Integer({
          description: 'Milliseconds to wait before the next request; absent if the deployment is ready.',
        }),
      ),
    }),
    ...createErrorResponses('error', 404, 413, 415),
  },
}

export const deploymentSchema = {
  operationId: 'getDeployment',
  summary: 'Reports whether a deployment may be scaled to zero, and counts its live backends',
  description,
  tags: ['proxy' as const],
  querystring,
  response: {
    200: Type.Object({
      scale_to_zero: Type.Boolean(),
      healthy_backends: Type.Integer({
        description: 'Number of backends with a recent heartbeat, counted up to 1,000.',
      }),
    }),
    ...createErrorResponses('error', 404, 413, 415),
  },
}
