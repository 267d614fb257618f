// A frontend shell without a framework and without a build step. It reads the configuration of the application for the
// tenant, and shows its texts in the language of the user. It runs the pilets with a valid signature, and has a bell.
// README.md describes what must serve it.
import { connect, frontendConfig } from '../../packages/client/src/index.ts'
import { loadPilets } from '../pilet-loader.mjs'
import { showBell } from './bell.mjs'
import { chooseLocale, loadTexts, showTexts } from './texts.mjs'

// The proxy writes this into the page, so a page cannot choose its user.
const { application, tenant, user, pilet_signing_keys: keys } = window['__SVC__'].config
const part = (id) => document.getElementById(id)
const manager = connect({ url: location.origin })

const config = await frontendConfig(manager, { applicationId: application.id, tenantId: tenant.id })
const texts = await loadTexts(manager, application.id, chooseLocale(config, navigator.languages))
const { text } = texts
showTexts(texts)
document.title = `${application.name}, ${tenant.name}`
document.documentElement.dataset.theme = config.defaultTheme
part('application').textContent = document.title
part('welcome').textContent = text('shell.welcome', { name: user.name })
showSupport(config.keyValuePairs.find(({ key }) => key === 'support.mail')?.value)

/** Functions of pilets that receive the inbox. */
const listeners = []
showBell(manager, application.id, {
  texts,
  onInbox: (notifications) => listeners.forEach((listener) => listener(notifications)),
})

const offered = { addSection, text, onInbox: (listener) => listeners.push(listener) }
const results = await loadPilets(`/pilet-feed/${application.id}/${tenant.id}`, keys, offered, {
  project: config.projectId,
})
const refused = results.filter((result) => result.refused !== undefined)
if (refused.length > 0) {
  const names = refused.map(({ name, refused: why }) => `${name} (${why})`).join(', ')
  addSection(text('shell.refused', { names }))
}

/** Adds a section with a heading for a pilet. The title is text, never HTML. */
function addSection(title) {
  const section = document.createElement('section')
  const heading = document.createElement('h2')
  heading.textContent = title
  section.append(heading)
  part('pilets').append(section)
  return section
}

function showSupport(mail) {
  if (mail === undefined) return
  part('support').textContent = mail
  part('support').href = `mailto:${mail}`
  document.querySelector('footer').hidden = false
}
