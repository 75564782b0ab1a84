// Drives the gateway with the functions that @hey-api/openapi-ts generates from the OpenAPI 3.1 document.
// Every security scheme gets the bare token.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as api from "./testdata/hey/index.js";
import { client } from "./testdata/hey/client.gen.js";

client.setConfig({
  baseUrl: process.env["GATEWAY_URL"]!,
  auth: (scheme) => (scheme.scheme === "bearer" ? process.env["GATEWAY_TOKEN"] : undefined),
});

test("a user", async () => {
  const path = { Username: "hey.user" };
  const created = await api.userCreate({ path, body: { LastName: "Weber", Password: "Corr3ct-Horse" } });
  assert.equal(created.response?.status, 201);
  const read = await api.userGet({ path });
  assert.equal(read.data?.result[0]?.lastName, "Weber");
  const updated = await api.userUpdate({ path, body: { JobTitle: "Clerk" } });
  assert.equal(updated.data?.result[0]?.jobTitle, "Clerk");
  const list = await api.userListAll();
  assert.ok(list.data?.result.some((user) => user.username === "hey.user"));
  const refused = await api.userUpdate({ path, body: { Country: "Atlantis" } });
  assert.equal(refused.error?.error.details[0]?.field, "Country");
  const deleted = await api.userDelete({ path });
  assert.equal(deleted.response?.status, 200);
  const gone = await api.userGet({ path });
  assert.equal(gone.error?.error.code, "not_found");
});

test("a group", async () => {
  const created = await api.groupCreateSecurity({ path: { GroupName: "hey-group" }, body: {} });
  assert.equal(created.response?.status, 201);
  const read = await api.groupGet({ path: { GroupName: "hey-group" } });
  assert.equal(read.data?.result[0]?.scope, "Global");
  const list = await api.groupListAll();
  assert.ok(list.data?.result.some((group) => group.name === "hey-group"));
  const refused = await api.groupCreateSecurity({ path: { GroupName: "hey-group" }, body: {} });
  assert.equal(refused.error?.error.code, "conflict");
  const deleted = await api.groupDelete({ path: { GroupName: "hey-group" } });
  assert.equal(deleted.response?.status, 200);
});

test("a CNAME", async () => {
  const record = { DNS_HostName: "hey-alias", DNS_HostName_Alias: "web1.corp.example", ZoneName: "corp.example" };
  const created = await api.cnameCreate({ body: record });
  assert.equal(created.response?.status, 201);
  const read = await api.cnameGet({ query: record });
  assert.equal(read.data?.result[0]?.name, "hey-alias");
  const list = await api.cnameListZone({ path: { ZoneName: "corp.example" } });
  assert.ok(list.data?.result.some((each) => each.name === "hey-alias"));
  const refused = await api.cnameCreate({ body: { ...record, ZoneName: "nowhere.example" } });
  assert.equal(refused.error?.error.details[0]?.field, "ZoneName");
  const deleted = await api.cnameDelete({ query: record });
  assert.equal(deleted.response?.status, 200);
});
