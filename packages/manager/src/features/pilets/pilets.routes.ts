import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { HoldBlob } from '../../platform/blobs/blob-holds.ts'
import type { ApiServer } from '../../platform/http/declarations.ts'
import { ignoreBodies } from '../../platform/http/ignore-bodies.ts'
import { maxBodyTimeoutMs } from '../../platform/http/arriving-bodies.ts'
import { acceptOnlyForms, getMaxFormBytes, readOneFile } from '../../platform/http/one-file.ts'
import { sendBundle } from '../../platform/http/send-bundle.ts'
import { sendPieces } from '../../platform/http/send-pieces.ts'
import type { Actor } from '../../policy/actor.ts'
import { describeRequirement } from '../../policy/authorize.ts'
import { type Permission, permissions } from '../../policy/permissions.ts'
import type { PackagesService } from './packages.service.ts'
import { deleteSchema, downloadSchema, listSchema, uploadSchema } from './pilets.schemas.ts'
import type { UploadsService } from './uploads.service.ts'

export type PiletServices = {
  packages: PackagesService
  uploads: UploadsService
  holdBlob: HoldBlob
  maxUploadBytes: number
}
type ListedPackage = Parameters<typeof formatItem>[0]

const bodyLimit = 16_384
const version = '/pilets/:projectId/:name/:version'
const createPolicy = (permission: Permission, ...audited: string[]) => ({
  policy: { can: { do: permission, on: ['projectId'], in: 'PROJECT' as const } },
  audited,
})
const uploadedDisabledMessage = `Package uploaded but disabled: enabling it requires ${describeRequirement(permissions.PILET_WRITE)}`
const parseFlag = (flag: 'true' | 'false' | undefined): boolean | null =>
  flag === undefined ? null : flag === 'true'
const getActor = (request: FastifyRequest): Actor => request.actor as Actor
/** Lower-cases the project id, because ids are stored in lower case. */
const normalizeKey = <Key extends { projectId: string }>(params: Key): Key => ({
  ...params,
  projectId: params.projectId.toLowerCase(),
})

/** Registers the routes that project members use to upload, list, download and disable pilets. */
export function registerPiletRoutes(server: ApiServer, services: PiletServices): void {
  void server.register((scoped, _options, done) => {
    // A shared cache must not serve a member's download to other callers. If the proxy authenticates users by
    // cookie, a cache in front of it can distinguish callers only by the Cookie header.
    scoped.addHook('onSend', async (_request, reply) => {
      void reply.header('vary', 'Authorization, Cookie, X-Token-Subject')
    })
    ignoreBodies(scoped)
    registerPackageRoutes(scoped.withTypeProvider<TypeBoxTypeProvider>(), services)
    void scoped.register((forms, _formOptions, formsDone) => {
      acceptOnlyForms(forms)
      registerUpload(forms.withTypeProvider<TypeBoxTypeProvider>(), services)
      formsDone()
    })
    done()
  })
}

function registerPackageRoutes(server: ApiServer, { packages, holdBlob }: PiletServices): void {
  server.get(
    '/pilets/:projectId',
    { config: createPolicy('PILET_READ'), schema: listSchema },
    async (request, reply) => {
      const { projectId } = normalizeKey(request.params)
      const pages = await packages.pages({ projectId, enabled: parseFlag(request.query.enabled) })
      return sendPieces(request, reply, streamJson(pages))
    },
  )
  server.get(
    version,
    { config: createPolicy('PILET_READ'), schema: downloadSchema },
    async (request, reply) => {
      const key = normalizeKey(request.params)
      const { store, ...bundle } = await packages.findBundle(key)
      return sendBundle(request, reply, bundle, (holder) =>
        holdBlob(
          { sha256: bundle.hash, size: bundle.size, store },
          [key.projectId, request.clientNetwork],
          holder,
        ),
      )
    },
  )
  server.delete(
    version,
    { bodyLimit, config: createPolicy('PILET_UPLOAD', 'piletPackage update'), schema: deleteSchema },
    async (request, reply) => {
      await packages.update(getActor(request), normalizeKey(request.params), { enabled: false })
      void reply.header('cache-control', 'no-store')
      return { message: 'Package disabled' }
    },
  )
}

function registerUpload(server: ApiServer, { uploads, maxUploadBytes }: PiletServices): void {
  server.post(
    version,
    {
      // Limits the bytes that are read and discarded after a rejection. The form reader enforces its own limits.
      bodyLimit: 2 * getMaxFormBytes(maxUploadBytes),
      config: { ...createPolicy('PILET_UPLOAD', 'piletPackage create'), bodyTimeoutMs: maxBodyTimeoutMs },
      schema: uploadSchema,
    },
    async (request, reply) => {
      const { description = '' } = request.query
      const enabled = parseFlag(request.query.enabled) ?? true
      const uploadedPackage = await uploads.accept(getActor(request), {
        key: normalizeKey(request.params),
        description,
        enabled,
        client: request.clientNetwork,
        receive: (take) => readOneFile(request, { field: 'file', maxBytes: maxUploadBytes, take }),
      })
      void reply.header('cache-control', 'no-store')
      const { id, name, version: uploaded, size, hash } = uploadedPackage
      const message = enabled && !uploadedPackage.enabled ? uploadedDisabledMessage : 'Package uploaded'
      return { id, name, version: uploaded, size, hash, enabled: uploadedPackage.enabled, message }
    },
  )
}

/** Yields the response in pieces, one per page. */
async function* streamJson(pages: AsyncIterable<readonly ListedPackage[]>): AsyncGenerator<string> {
  let [before, count] = ['{"packages":[', 0]
  for await (const page of pages) {
    yield before + page.map((listedPackage) => JSON.stringify(formatItem(listedPackage))).join(',')
    before = ','
    count += page.length
  }
  yield `],"count":${count}}`
}

const formatItem = (listedPackage: Awaited<ReturnType<PackagesService['find']>>) => ({
  id: listedPackage.id,
  name: listedPackage.name,
  version: listedPackage.version,
  description: listedPackage.description,
  size: listedPackage.size,
  hash: listedPackage.hash,
  enabled: listedPackage.enabled,
  created_at: listedPackage.createdAt,
  updated_at: listedPackage.updatedAt,
})
