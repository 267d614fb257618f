// Tests that responses without a body do not claim that the resource is empty.
import { expect, test } from 'vitest'
import { addPackages, setLayer } from '../../../test/kit/pilet-rows.ts'
import { callPilets } from '@manager/harness/pilets.ts'
import { useProject } from '../../../test/kit/project.ts'

const { service, project, admin } = useProject()

test('a 304 has no length, of a HEAD too; a HEAD that is answered 200 has that of the body', async () => {
  await addPackages(service.sql, project.id, [{ name: 'menu', version: '1.0.0' }])
  await setLayer(service.sql, project, 'project', { modules: ['menu'] })
  const { id, applicationId, tenantId } = project
  for (const path of [
    `/pilets/${id}/menu/1.0.0`,
    `/pilet-bundle/${applicationId}/${id}/menu/1.0.0`,
    `/pilet-feed/${applicationId}`,
    `/pilet-feed/${applicationId}/${tenantId}`,
    `/pilet-keys/${applicationId}`,
    `/api/frontend-config/${applicationId}/${tenantId}`,
  ]) {
    const whole = await callPilets(service, admin, path)
    const known = { 'if-none-match': whole.headers.get('etag') ?? '' }
    const lengthOf = async (method: string, headers: Record<string, string>) => {
      const answer = await callPilets(service, admin, path, { method, headers })
      return [answer.status, answer.headers.get('content-length'), answer.headers.get('transfer-encoding')]
    }
    expect([path, await lengthOf('HEAD', {})]).toEqual([path, [200, String(whole.text.length), null]])
    for (const method of ['GET', 'HEAD'])
      expect([path, method, await lengthOf(method, known)]).toEqual([path, method, [304, null, null]])
  }
})
