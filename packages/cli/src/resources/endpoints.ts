import {
  createEndpointDocument,
  deleteEndpointDocument,
  listEndpointsDocument,
  updateEndpointDocument,
} from '@manager/client/documents'
import type { Resource } from '../resource.ts'

const messageTypes = ['SOAP', 'XML', 'JSON']

export const endpoints: Resource = {
  name: 'endpoints',
  singular: 'endpoint',
  description: 'ESB endpoints: the addresses to which the calls of an app are forwarded',
  parent: 'app',
  keys: ['name', 'consumeURL'],
  columns: ['name', 'consumeURL', 'url', 'enabled', 'id'],
  fields: [
    { name: 'name', description: 'the name', only: 'update' },
    { name: 'description', description: 'a short description' },
    { name: 'enabled', description: 'whether the endpoint can be called', kind: 'boolean' },
    { name: 'consumeURL', description: 'the path that callers use, such as /orders', isRequired: true },
    // The option is not named --url, because --url is the address of the Manager.
    {
      name: 'url',
      option: 'targetURL',
      description: 'the address that calls are forwarded to',
      isNullable: true,
    },
    {
      name: 'authType',
      description: 'how the gateway authenticates at the target',
      choices: ['Basic', 'Bearer', 'None'],
    },
    { name: 'authUsername', description: 'the user name for Basic authentication' },
    {
      name: 'authPassword',
      description: 'a file with the password for Basic authentication',
      kind: 'secret',
    },
    { name: 'authToken', description: 'a file with the token for Bearer authentication', kind: 'secret' },
    {
      name: 'inputMessageType',
      description: 'the message type that callers send',
      choices: messageTypes,
      isNullable: true,
    },
    {
      name: 'outputMessageType',
      description: 'the message type that is forwarded',
      choices: messageTypes,
      isNullable: true,
    },
    { name: 'transformationTemplate', description: 'a file with the template', kind: 'file' },
    { name: 'logLevel', description: 'how much the call log records', choices: ['NONE', 'BASIC', 'FULL'] },
  ],
  list: { document: listEndpointsDocument, parent: 'application' },
  create: { document: createEndpointDocument, parent: 'applicationId' },
  update: { document: updateEndpointDocument },
  delete: { document: deleteEndpointDocument },
  example: 'orders --consume-url /orders',
}
