// Request and response schemas of the GraphQL routes. The GraphQL schema itself is in docs/api/schema.graphql.
import { Type } from 'typebox'
import {
  cachedHeaders,
  createErrorResponses,
  graphqlResponse,
  notModifiedSchema,
} from '../http/http.schemas.ts'
import { limits } from './limits.ts'

export const querySchema = {
  operationId: 'query',
  summary: 'Executes one GraphQL operation',
  description: 'If a field fails, the route returns 200: the field is null in `data` and listed in `errors`.',
  tags: ['people' as const],
  body: Type.Object(
    {
      query: Type.String({ maxLength: limits.queryLength }),
      variables: Type.Optional(
        Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()], {
          description: `At most ${limits.variables} values, including nested values.`,
        }),
      ),
      operationName: Type.Optional(
        Type.Union([
          Type.String({ pattern: '^[_A-Za-z][_0-9A-Za-z]{0,99}$', title: 'a GraphQL name' }),
          Type.Null(),
        ]),
      ),
    },
    { title: 'a JSON object with a query' },
  ),
  response: { 200: graphqlResponse, ...createErrorResponses('graphql', 403, 502) },
}

export const playgroundSchema = {
  operationId: 'getPlayground',
  summary: 'Serves GraphiQL, in development only',
  tags: ['development' as const],
  produces: 'text/html; charset=utf-8',
  response: { 200: Type.String(), 304: notModifiedSchema, ...createErrorResponses('error') },
  responseHeaders: cachedHeaders,
}
