// Reads all pages of a GraphQL connection.
import { Failure } from '../failures.ts'
import type { GraphqlBody } from './request.ts'

type PageInfo = { hasNextPage: boolean; endCursor: string | null }

/** Throws if the query cannot be repeated for the next page. */
export function checkPageable(graphql: GraphqlBody | null): GraphqlBody {
  if (graphql !== null && /\$after\s*:\s*String\b/.test(graphql.query)) return graphql
  throw new Failure(
    'usage',
    '--paginate needs a GraphQL query with the variable $after: String, which it passes to a connection, and with the fields pageInfo { hasNextPage endCursor }.',
  )
}

/** Returns the body of the request for the next page, or null after the last page. */
export function findNextPage(graphql: GraphqlBody, data: unknown): GraphqlBody | null {
  const pageInfo = findPageInfo(data)
  if (pageInfo === null)
    throw new Failure('usage', 'The response has no pageInfo. Select pageInfo { hasNextPage endCursor }.')
  const { hasNextPage, endCursor } = pageInfo
  if (!hasNextPage) return null
  if (endCursor === null || endCursor === graphql.variables['after'])
    throw new Failure('failed', 'The Manager returned the same page twice. Check that the query uses $after.')
  return { ...graphql, variables: { ...graphql.variables, after: endCursor } }
}

function findPageInfo(value: unknown): PageInfo | null {
  if (typeof value !== 'object' || value === null) return null
  if ('pageInfo' in value && isPageInfo(value.pageInfo)) return value.pageInfo
  for (const nested of Object.values(value)) {
    const pageInfo = findPageInfo(nested)
    if (pageInfo !== null) return pageInfo
  }
  return null
}

const isPageInfo = (value: unknown): value is PageInfo =>
  typeof value === 'object' &&
  value !== null &&
  'hasNextPage' in value &&
  typeof value.hasNextPage === 'boolean' &&
  'endCursor' in value &&
  (value.endCursor === null || typeof value.endCursor === 'string')
