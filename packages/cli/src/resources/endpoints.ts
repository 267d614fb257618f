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
  one: 'endpoint',
  description: 'Endpoints of the ESB: where calls of an app are forwarded to',
  parent: 'app',
  keys: ['name', 'consumeURL'],
  columns: ['name', 'consumeURL', 'url', 'enabled', 'id'],
  fields: [
    { name: 'name', description: 'its name', only: 'update' },
    { name: 'description', description: 'what it is for' },
    { name: 'enabled', description: 'whether it can be called', kind: 'boolean' },
    { name: 'consumeURL', description: 'the path that callers use, such as /orders', isRequired: true },
    // --url is where the Manager is.
    { name: 'url', option: 'targetURL', description: 'where calls are forwarded to' },
    { name: 'authType', description: 'how it signs in there', choices: ['Basic', 'Bearer', 'None'] },
    { name: 'authUsername', description: 'the user name of Basic' },
    { name: 'authPassword', description: 'a file with the password of Basic', kind: 'secret' },
    { name: 'authToken', description: 'a file with the token of Bearer', kind: 'secret' },
    { name: 'inputMessageType', description: 'what callers send', choices: messageTypes },
    { name: 'outputMessageType', description: 'what is forwarded', choices: messageTypes },
    { name: 'transformationTemplate', description: 'a file with the template', kind: 'file' },
    { name: 'logLevel', description: 'what is kept of calls', choices: ['NONE', 'BASIC', 'FULL'] },
  ],
  list: { document: listEndpointsDocument, parent: 'application' },
  create: { document: createEndpointDocument, parent: 'applicationId' },
  update: { document: updateEndpointDocument },
  delete: { document: deleteEndpointDocument },
  example: 'orders --consume-url /orders',
}
