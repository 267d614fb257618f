// A client of the Manager. Every function takes a connection first, and a bundle holds only those it names.
export { type ConnectOptions, type Connection, connect } from './connection.ts'
export { ConnectionError, GraphqlError, type GraphqlErrorEntry, ResponseError } from './errors.ts'
export { type TypedDocument, graphql } from './graphql.ts'
export { type CallOptions, type Request, send, sendForJson } from './request.ts'
