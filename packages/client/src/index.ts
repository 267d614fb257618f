// A client for the Manager. Every function has a connection as its first argument, so bundles contain only
// the functions that they import.
export { type BackendOptions, type Registration, registerBackend } from './backends.ts'
export { type Callback, type CallbackKeys, type IncomingCallback, verifyCallback } from './callbacks.ts'
export { type CliLogin, type CliLoginStatus, pollCliLogin, startCliLogin } from './cli-login.ts'
export {
  type EmitOptions,
  type EmittedNotification,
  type LiveHint,
  type NewNotification,
  emit,
  publish,
} from './comms.ts'
export { type ConnectOptions, type Connection, connect } from './connection.ts'
export {
  CallbackError,
  ConnectionError,
  type FieldProblem,
  GraphqlError,
  type GraphqlErrorEntry,
  ResponseError,
} from './errors.ts'
export { type EsbCall, callEsb } from './esb.ts'
export {
  type FrontendConfig,
  type LanguagePack,
  type PiletFeed,
  frontendConfig,
  languagePack,
  piletFeed,
} from './frontends.ts'
export { type TypedDocument, graphql } from './graphql.ts'
export {
  type Inbox,
  type ListNotificationsOptions,
  type MarkOptions,
  type Notification,
  type NotificationPage,
  isUnread,
  listNotifications,
  markRead,
  markSeen,
} from './inbox.ts'
export {
  type LiveData,
  type Marks,
  type NotificationHint,
  type NotificationOptions,
  type OpenNotifications,
  openNotifications,
} from './notifications.ts'
export { type PiletUpload, type PublishedPilet, publishPilet } from './pilets.ts'
export { type CallOptions, type Request, type RequestContent, send, sendForJson } from './request.ts'
export type { SocketState } from './socket.ts'
export { type ForEachTenantOptions, type Tenant, forEachTenant, listTenants } from './tenants.ts'
