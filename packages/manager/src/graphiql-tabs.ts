// GraphiQL opens with these operations from README.md and docs/start/call-a-partner.md; a test compares them with both
// pages. Each operation has a name because GraphiQL shows it as the title of the tab.

export const graphiqlTabs: readonly { query: string }[] = [
  String.raw`# README.md. Run it with Ctrl-Enter.
mutation FirstProject {
  createProject(input: { name: "First", slug: "first" }) {
    slug
    environments {
      name
    }
  }
}
`,
  String.raw`# README.md
query Projects {
  projects {
    name
    slug
  }
}
`,
  String.raw`# docs/start/call-a-partner.md, step 2. The next tabs need the ids of the response.
mutation ShopProject {
  createProject(input: { name: "Shop", slug: "shop" }) {
    id
    environments {
      id
      name
    }
  }
}
`,
  String.raw`# docs/start/call-a-partner.md, step 2: replace <project> with its id.
mutation Application {
  createApplication(projectId: "<project>", input: { name: "Store", slug: "store" }) {
    id
  }
}
`,
  String.raw`# docs/start/call-a-partner.md, step 3: replace <application> with its id.
mutation Endpoint {
  createEndpoint(
    applicationId: "<application>"
    input: {
      name: "Orders"
      consumeURL: "/orders"
      url: "http://localhost:9000/api/orders"
      authType: Basic
      authUsername: "store"
      authPassword: "correct horse"
    }
  ) {
    id
    enabled
    logLevel
    authPassword
  }
}
`,
  String.raw`# docs/start/call-a-partner.md, step 4: replace <environment> with the id of an environment.
mutation MachineUser {
  createMachineUserWithCredentials(
    environmentId: "<environment>"
    input: { name: "backend of the Store", hashedKey: "__GENERATE_TOKEN__" }
  ) {
    generatedToken
    machineUser {
      id
    }
  }
}
`,
  String.raw`# docs/start/call-a-partner.md, step 5: grant access.
mutation Access {
  createMachineUser2Endpoint(input: { machineUserID: "<machine user>", endpointID: "<endpoint>" }) {
    id
    enabled
  }
}
`,
  String.raw`# docs/start/call-a-partner.md, step 7: read the call log.
query Calls {
  esbAuditLogs(applicationId: "<application>", endpointId: "<endpoint>", limit: 10) {
    timestamp
    machineUser {
      name
    }
    sourceIP
    method
    path
    targetURL
    responseStatus
    failure
    transformationApplied
    requestBody
  }
}
`,
  String.raw`# docs/start/call-a-partner.md, step 8: preview a template.
mutation Preview {
  previewESBTransform(
    endpointId: "<endpoint>"
    input: {
      body: """
      {"id": "o-1", "buyer": {"name": "Ada \"the first\""}}
      """
      transformationTemplate: """
      {"reference": {{toJson .Data.id}}, "customer": {{toJson .Data.buyer.name}}, "from": "{{.Application.Slug}}"}
      """
    }
  ) {
    output
    contentType
  }
}
`,
  String.raw`# docs/start/call-a-partner.md, step 8: warn about a missing key.
mutation Warnings {
  previewESBTransform(
    endpointId: "<endpoint>"
    input: { body: "{}", transformationTemplate: "{\"reference\": {{toJson .Data.di}}}" }
  ) {
    output
    warnings {
      message
      line
      column
    }
  }
}
`,
  String.raw`# docs/start/call-a-partner.md, step 8: save the template.
mutation Template {
  updateEndpoint(
    id: "<endpoint>"
    input: {
      inputMessageType: JSON
      transformationTemplate: """
      {"reference": {{toJson .Data.id}}, "customer": {{toJson .Data.buyer.name}}, "from": "{{.Application.Slug}}"}
      """
    }
  ) {
    id
  }
}
`,
].map((query) => ({ query }))
