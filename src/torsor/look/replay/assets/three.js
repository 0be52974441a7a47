// What the page uses of three.js; tools/build_replay_assets.sh makes three.min.js.gz of it.
export {
  Box3, BufferAttribute, BufferGeometry, Color, ConeGeometry, CylinderGeometry, DirectionalLight, DoubleSide, FrontSide,
  GridHelper, Group, HemisphereLight, Mesh, MeshStandardMaterial, PCFShadowMap, PerspectiveCamera, PlaneGeometry, Quaternion,
  Scene, ShadowMaterial, Sphere, SRGBColorSpace, Vector3, WebGLRenderer,
} from "three";
export { OrbitControls } from "three/addons/controls/OrbitControls.js";
