// Seeds registered backends with SQL, for tests that do not cover their registration.
import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { type SeededProject, seedMachineUser } from '@manager/harness/seed.ts'

/**
 * Registers a new machine user of the project for the project's application, without usable secrets. Returns the id.
 */
export async function seedBackend(sql: Pool, project: SeededProject): Promise<string> {
  const id = randomUUID()
  const { id: machineUserId } = await seedMachineUser(sql, project)
  await sql.query(
    `insert into backend_registrations (id, project_id, application_id, environment_id, machine_user_id, callback_url,
       callback_token, version) values ($1, $2, $3, $4, $5, 'https://backend.example.com/hooks/run', '', '1.0.0')`,
    [id, project.id, project.applicationId, project.environmentId, machineUserId],
  )
  return id
}
